package org.cloister.lab.ends;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
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
import org.cloister.host.ticket.ClaimReader;
import org.cloister.host.ticket.Claims;
import org.cloister.host.ticket.EpochBook;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.channel.PortDialler;
import org.cloister.protocol.channel.PortEvents;
import org.cloister.protocol.channel.PtyPort;
import org.cloister.protocol.channel.VmPort;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.CutWire;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Reserve;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketStream;
import org.cloister.relay.LoopbackRelay;
import org.cloister.vm.ticket.OfficeLine;
import org.cloister.vm.ticket.Site;
import org.cloister.vm.ticket.SiteWorkers;
import org.cloister.vm.ticket.Slots;
import org.cloister.vm.ticket.TicketBook;
import org.cloister.vm.ticket.Witness;
import org.cloister.vm.worker.WorkerEvent;

/**
 * A controlling VM's agent, its host's agent and a relay, each with its own code: the VM speaks through its channel, the host
 * forwards it on its link and has a stream of its own there, and the link's wire can be cut.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class TicketEnds implements Slots, Witness, AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final LoopbackRelay relay;
    final CutWire wire;
    final Claims claims;
    final SiteWorkers workers;
    final SigningKey hostKey;
    final List<WorkerEvent> events = new CopyOnWriteArrayList<>();
    final Map<String, List<OfficeMessage.Part>> parts = new ConcurrentHashMap<>();
    volatile boolean isOpen;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final ScheduledExecutorService decisions = Executors.newSingleThreadScheduledExecutor();
    private final Site site;
    private final PtyPort pipe;
    private final VmPort port;
    private final AgentLink hostLink;
    private final AgentLink vmLink;

    TicketEnds(Path folder) throws Exception {
        relay = new LoopbackRelay(Files.createDirectory(folder.resolve("relay")));
        wire = new CutWire(relay.address());
        Credential host = relay.credential(relay.host());
        hostKey = key(host);
        Beliefs ofHost = relay.beliefs();
        claims = new Claims(
                new ClaimReader(
                        hostKey.verificationKey(), ofHost, EpochBook.open(folder.resolve("epochs")), used -> false),
                (head, from) -> {},
                PATIENCE);
        Forwarding forwarding = new Forwarding(relay.host(), new Attaching(claims::attached));
        hostLink = new AgentLink(
                loops,
                new AgentLink.Terms(List.of(wire.address()), () -> host, each -> each, ofHost, "a test's host"),
                forwarding,
                new Random(1));
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")));
        port = forwarding.open(loops.next(), pipe.socket(), Set.of(relay.controller()), new PortEvents() {});

        Credential controller = relay.credential(relay.controller());
        Beliefs ofVm = relay.beliefs();
        site = new Site(ofVm);
        workers = new SiteWorkers(
                new SiteWorkers.Terms(
                        relay.controller().project(),
                        key(controller),
                        new MemoryReserves(new Reserve(256, 64), new Reserve(192, 256)),
                        Duration.ofSeconds(60)),
                TicketBook.open(folder.resolve("tickets"), 1),
                this,
                this,
                decisions,
                InstantSource.system());
        workers.start(events::add);
        OfficeLine line = new OfficeLine(() -> speaker(controller), site::welcomed, new Open());
        vmLink = new AgentLink(
                loops.next(),
                new PortDialler(loops.next(), pipe.device()),
                "a test's VM",
                ofVm,
                new Attaching(line::enter),
                new Random(2));
    }

    private static SigningKey key(Credential own) throws IOException {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    private TicketStream.Speaker speaker(Credential own) {
        try {
            List<byte[]> chain = new ArrayList<>();
            for (X509Certificate each : own.chain()) {
                chain.add(each.getEncoded());
            }
            return new TicketStream.Speaker(relay.controller(), chain, key(own));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Knows whether the VM's stream is there, and passes on. */
    private final class Open implements OfficeLine.Listener {
        @Override
        public void open(OfficeLine.Said to) {
            isOpen = true;
            workers.open(to);
        }

        @Override
        public void heard(OfficeMessage message) {
            workers.heard(message);
        }

        @Override
        public void closed() {
            isOpen = false;
            workers.closed();
        }
    }

    private record Attaching(Consumer<Link> to) implements AgentEvents {
        @Override
        public void attached(Attachment attachment) {
            to.accept(attachment.link());
        }

        @Override
        public void served(Name name, Optional<CloseReason> refused) {}

        @Override
        public void dialled(Attachment attachment, RelayMessage.Dial dial) {
            attachment.refuse(dial, CloseReason.REFUSED);
        }

        @Override
        public boolean revoked(byte[] signed) {
            return false;
        }

        @Override
        public void lost(String why) {}
    }

    @Override
    public int expect(Ticket ticket, OfficeMessage.Update update) throws IOException {
        return site.open(update.allocation().toByteArray()).slots().size();
    }

    @Override
    public void release(String ticket) {}

    @Override
    public void forget(String ticket) {}

    @Override
    public void ordered(Ticket ticket, byte[] envelope) {}

    @Override
    public void stands(OfficeMessage.Update update) {}

    @Override
    public void part(OfficeMessage.Part part) {
        parts.computeIfAbsent(part.ticket(), each -> new CopyOnWriteArrayList<>())
                .add(part);
    }

    @Override
    public void dropped(String ticket) {}

    @Override
    public void forgotten(String ticket) {}

    /** Whose part has not come yet, whatever became of them. */
    @Override
    public List<String> awaited() {
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
