package org.cloister.lab.conversation;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.host.tickets.ClaimResponseVerifier;
import org.cloister.host.tickets.EpochStore;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.MemoryReserve;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.relay.links.LoopbackRelay;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.channel.PortWire;
import org.cloister.transport.channel.PtyPort;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.channel.VmPort;
import org.cloister.transport.channel.VmPortListener;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.RecordCuttingProxy;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.link.TicketStreamClient;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.controller.tickets.SiteTrust;
import org.cloister.vm.controller.tickets.SiteWorkerAllocator;
import org.cloister.vm.controller.tickets.TicketFolder;
import org.cloister.vm.controller.tickets.TicketRecorder;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.tickets.WorkerSlots;

/**
 * A controlling VM's agent, its host's agent and a relay, each with its own code: the VM speaks through its channel, the host
 * forwards it on its link and has a stream of its own there, and the link's wire can be cut.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class TicketConversation implements WorkerSlots, TicketRecorder, AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    final LoopbackRelay relay;
    final RecordCuttingProxy wire;
    final TicketClaims claims;
    final SiteWorkerAllocator workers;
    final SigningKey hostKey;
    final List<WorkerEvent> events = new CopyOnWriteArrayList<>();
    final Map<String, List<RelayTicketMessage.ForwardedStatement>> parts = new ConcurrentHashMap<>();
    volatile boolean isOpen;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final ScheduledExecutorService decisions = Executors.newSingleThreadScheduledExecutor();
    private final SiteTrust site;
    private final PtyPort pipe;
    private final VmPort port;
    private final AgentLink hostLink;
    private final AgentLink vmLink;

    TicketConversation(Path folder) throws Exception {
        this(folder, PortWire.plain());
    }

    /** @param channel what passes between the VM and its host; its fault can do no more than hang up */
    TicketConversation(Path folder, PortWire channel) throws Exception {
        relay = new LoopbackRelay(Files.createDirectory(folder.resolve("relay")));
        wire = new RecordCuttingProxy(relay.address());
        TlsCredential host = relay.credential(relay.host());
        hostKey = key(host);
        TrustStore ofHost = relay.trustStore();
        claims = new TicketClaims(
                new ClaimResponseVerifier(
                        hostKey.verificationKey(), ofHost, EpochStore.open(folder.resolve("epochs")), used -> false),
                (head, from) -> {},
                TIMEOUT);
        VmForwarder forwarding = new VmForwarder(relay.host(), new Attaching(claims::attached));
        hostLink = new AgentLink(
                loops,
                new AgentLink.Settings(List.of(wire.address()), () -> host, each -> each, ofHost, "a test's host"),
                forwarding,
                new Random(1));
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")), channel);
        channel.endBy(kind -> hangUp());
        port = forwarding.open(loops.next(), pipe.socket(), Set.of(relay.controller()), new VmPortListener() {});

        TlsCredential controller = relay.credential(relay.controller());
        TrustStore ofVm = relay.trustStore();
        site = new SiteTrust(ofVm);
        workers = new SiteWorkerAllocator(
                new SiteWorkerAllocator.Settings(
                        relay.controller().project(),
                        key(controller),
                        new MemoryReserves(new MemoryReserve(256, 64), new MemoryReserve(192, 256)),
                        Duration.ofSeconds(60)),
                TicketFolder.open(folder.resolve("tickets"), 1),
                this,
                this,
                decisions,
                InstantSource.system());
        workers.start(events::add);
        // Else whether the VM's first stream is refused is a matter of luck.
        while (!claims.isConnected()) {
            Thread.sleep(10);
        }
        TicketStreamClient client = TicketStreamClient.ofController(() -> speaker(controller), site::onWelcome);
        vmLink = new AgentLink(
                loops.next(),
                new HostPortDialler(loops.next(), pipe.device()),
                "a test's VM",
                ofVm,
                new Attaching(link -> client.attach(link, new StreamListener())),
                new Random(2));
    }

    private void hangUp() {
        try {
            pipe.hangUp();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether both streams of tickets are there. */
    boolean isWhole() {
        return isOpen && claims.isConnected();
    }

    private static SigningKey key(TlsCredential own) throws IOException {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    private TicketStream.ControllerSigner speaker(TlsCredential own) {
        try {
            List<byte[]> chain = new ArrayList<>();
            for (X509Certificate each : own.chain()) {
                chain.add(each.getEncoded());
            }
            return new TicketStream.ControllerSigner(relay.controller(), chain, key(own));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Knows whether the VM's stream is there, and passes on. */
    private final class StreamListener implements TicketStreamClient.Listener {
        @Override
        public void onOpen(TicketStreamClient.Sender to) {
            workers.onOpen(to);
            // Behind that, which asks for what is awaited: of what is ordered later it must not.
            decisions.execute(() -> isOpen = true);
        }

        @Override
        public void onMessage(RelayTicketMessage message) {
            workers.onMessage(message);
        }

        @Override
        public void onClosed(String why) {
            isOpen = false;
            workers.onClosed(why);
        }
    }

    private record Attaching(Consumer<ClientLink> to) implements AgentLinkListener {
        @Override
        public void onAttached(AgentAttachStream attachment) {
            to.accept(attachment.link());
        }

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {}

        @Override
        public void onLost(String why) {}
    }

    @Override
    public void start(Consumer<WorkerEvent> workerEvents) {}

    @Override
    public int expectWorkers(Ticket ticket, RelayTicketMessage.Update update) throws IOException {
        return site.verifyAllocation(update.allocation().toByteArray()).slots().size();
    }

    @Override
    public void release(String ticket) {}

    @Override
    public void forget(String ticket) {}

    @Override
    public void recordSubmission(Ticket ticket, byte[] envelope) {}

    @Override
    public void recordUpdate(RelayTicketMessage.Update update) {}

    @Override
    public void recordHostStatement(RelayTicketMessage.ForwardedStatement part) {
        parts.computeIfAbsent(part.ticket(), each -> new CopyOnWriteArrayList<>())
                .add(part);
    }

    @Override
    public void recordRejection(String ticket) {}

    @Override
    public void recordForgotten(String ticket) {}

    /** Whose part has not come yet, whatever became of them. */
    @Override
    public List<String> awaitedTickets() {
        return waiting;
    }

    volatile List<String> waiting = List.of();

    @Override
    public void close() throws IOException {
        vmLink.close();
        port.close();
        pipe.close();
        hostLink.close();
        claims.close();
        wire.close();
        relay.close();
        decisions.shutdownNow();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
