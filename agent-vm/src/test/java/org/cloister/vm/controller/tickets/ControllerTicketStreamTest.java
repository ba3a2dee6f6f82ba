package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.SignedTicketFixture;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStreamProof;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.channel.PtyPort;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.channel.VmPort;
import org.cloister.transport.channel.VmPortListener;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.link.TicketStreamClient;
import org.cloister.vm.worker.InProcessRelay;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tickets of a controlling VM by its channel: through its port and its host, to an office that asks who it is. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class ControllerTicketStreamTest {
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final InstantSource CLOCK = () -> SignedTicketFixture.NOW.plusSeconds(60);
    private static final byte[] NONCE = new byte[TicketStreamProof.NONCE_BYTES];

    private final SignedTicketFixture fixture = new SignedTicketFixture();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final ScheduledExecutorService decisions = Executors.newSingleThreadScheduledExecutor();
    private final BlockingQueue<WorkerEvent> events = new LinkedBlockingQueue<>();
    /** What the office was told, by whoever it was. */
    private final BlockingQueue<String> sent = new LinkedBlockingQueue<>();

    @TempDir
    private Path folder;

    private volatile SigningKey relaysKey = fixture.relay.key();
    private volatile Duration use = Duration.ofHours(1);
    private SiteTrust site;
    private InProcessRelay relay;
    private AgentLink host;
    private PtyPort pipe;
    private VmPort port;
    private AgentLink vm;
    private SiteWorkerAllocator workers;

    ControllerTicketStreamTest() throws Exception {}

    @BeforeEach
    void start() throws Exception {
        relay = new InProcessRelay(loops);
        relay.ticketServer = stream -> new RelayStub().install(stream);
        VmForwarder forwarding = new VmForwarder(fixture.hosts.get(0).name(), new SilentSlots());
        EventLoop loop = loops.next();
        host = new AgentLink(loop, relay.dialler(loop), "a host", nobody(), forwarding, new Random(1));
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")));
        port = forwarding.open(loops.next(), pipe.socket(), Set.of(fixture.controller.name()), new VmPortListener() {});
        TrustStore trustStore = new TrustStore(fixture.anchors(), RevocationLists.none(), CLOCK);
        trustStore.addRevocationList(
                fixture.site.revoke(List.of(), BigInteger.ONE, SignedTicketFixture.NOW, Duration.ofHours(24)));
        site = new SiteTrust(trustStore);
        workers = new SiteWorkerAllocator(
                new SiteWorkerAllocator.Settings(
                        fixture.project.id(),
                        fixture.controller.key(),
                        MemoryReserves.defaults(false),
                        Duration.ofSeconds(5)),
                TicketFolder.open(folder.resolve("book"), 1),
                new OpenSlots(),
                new FakeTicketRecorder(),
                decisions,
                CLOCK);
        workers.start(events::add);
    }

    /** The VM's own agent begins. */
    private void begin() {
        TicketStreamClient client = TicketStreamClient.ofController(
                () -> new TicketStream.ControllerSigner(
                        fixture.controller.name(), fixture.controller.chain(), fixture.controller.key()),
                welcome -> {
                    site.onWelcome(welcome);
                    return use;
                });
        vm = new AgentLink(
                loops.next(),
                new HostPortDialler(loops.next(), pipe.device()),
                "a controlling VM",
                nobody(),
                new SilentSlots() {
                    @Override
                    public void onAttached(AgentAttachStream attachment) {
                        client.attach(attachment.link(), workers);
                    }
                },
                new Random(2));
    }

    private static TrustStore nobody() {
        return new TrustStore(TrustAnchors.none(), RevocationLists.none(), CLOCK);
    }

    @AfterEach
    void stop() {
        vm.close();
        port.close();
        pipe.close();
        host.close();
        relay.close();
        decisions.shutdownNow();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void awaitEvent(String what) throws InterruptedException {
        assertThat(sent.poll(40, TimeUnit.SECONDS)).isEqualTo(what);
    }

    private static ResourceRequest request() {
        return new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 8192, 0, false, 60, List.of());
    }

    @Test
    void a_ticket_goes_out_under_the_vms_own_name_and_key_and_nodes_of_the_site_come_back() throws Exception {
        workers.submitTicket(TICKET, request());
        begin();
        awaitEvent("proof of " + fixture.controller.name());
        awaitEvent("order " + TICKET);
        assertThat(events.poll(40, TimeUnit.SECONDS)).isEqualTo(new WorkerEvent.Allocated(TICKET, 2));
    }

    @Test
    void nodes_that_no_relay_of_the_site_gives_are_not_taken_and_the_ticket_is_taken_back() throws Exception {
        relaysKey = fixture.hosts.get(0).key();
        workers.submitTicket(TICKET, request());
        begin();
        awaitEvent("proof of " + fixture.controller.name());
        awaitEvent("order " + TICKET);
        awaitEvent("withdraw");
        assertThat(events).isEmpty();
    }

    @Test
    void a_stream_whose_certificates_are_old_is_opened_anew_and_asks_for_what_it_had() throws Exception {
        use = Duration.ofMillis(300);
        workers.submitTicket(TICKET, request());
        begin();
        awaitEvent("proof of " + fixture.controller.name());
        awaitEvent("order " + TICKET);
        awaitEvent("proof of " + fixture.controller.name());
        awaitEvent("ask " + TICKET);
    }

    /** Slots as the admission has them, without workers. */
    private final class OpenSlots implements WorkerSlots {
        @Override
        public void start(Consumer<WorkerEvent> events) {}

        @Override
        public int expectWorkers(Ticket ticket, RelayTicketMessage.Update update) throws IOException {
            return site.verifyAllocation(update.allocation().toByteArray())
                    .slots()
                    .size();
        }

        @Override
        public void release(String ticket) {}

        @Override
        public void forget(String ticket) {}
    }

    private static class SilentSlots implements AgentLinkListener {
        @Override
        public void onAttached(AgentAttachStream attachment) {}

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {}

        @Override
        public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {}

        @Override
        public void onLost(String why) {}
    }

    /** Relay's end of the stream: asks for the VM's identity, states its own, and has nodes for every ticket. */
    private final class RelayStub extends ChannelInboundHandlerAdapter {
        void install(Channel stream) {
            stream.pipeline()
                    .addLast(
                            new MessageFraming(ProtocolLimits.AGENT_TICKET_MESSAGE_BYTES, AgentTicketMessage::read),
                            this);
            send(
                    stream,
                    new RelayTicketMessage.Challenge(
                            ByteString.copyFrom(NONCE), fixture.relay.name().toString()));
        }

        private void send(Channel stream, RelayTicketMessage message) {
            stream.writeAndFlush(MessageFraming.frame(message.wire()));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            if (message instanceof AgentTicketMessage.Proof proof) {
                sent.add("proof of " + proven(proof).name());
                send(
                        ctx.channel(),
                        new RelayTicketMessage.Welcome(
                                ByteString.EMPTY,
                                fixture.relay.chain().stream()
                                        .map(ByteString::copyFrom)
                                        .toList()));
            } else if (message instanceof AgentTicketMessage.Submit order) {
                Ticket ticket = SignedTicket.read(order.ticket().toByteArray(), fixture.identity(fixture.controller))
                        .ticket();
                sent.add("order " + ticket.id());
                send(ctx.channel(), running(ticket));
            } else if (message instanceof AgentTicketMessage.QueryTicket ask) {
                sent.add("ask " + ask.ticket());
            } else if (message instanceof AgentTicketMessage.Withdraw) {
                sent.add("withdraw");
            }
        }

        private CertifiedIdentity proven(AgentTicketMessage.Proof proof) throws IOException {
            CertifiedIdentity who = CertificateChain.parse(
                            proof.chain().stream().map(ByteString::toByteArray).toList())
                    .verifyUnlisted(Set.of(CertificateRole.CONTROLLER), fixture.anchors(), CLOCK.instant());
            byte[] payload = DsseEnvelope.parse(proof.signed().toByteArray(), TicketStreamProof.MAX_BYTES)
                    .verify(TicketStreamProof.TYPE, Set.of(who.key()), 1);
            if (!TicketStreamProof.parse(payload)
                    .equals(TicketStreamProof.of(fixture.relay.name().toString(), NONCE))) {
                throw new MalformedException("another challenge's");
            }
            return who;
        }

        private RelayTicketMessage.Update running(Ticket ticket) throws GeneralSecurityException {
            Allocation allocation = fixture.allocation(ticket, fixture.slots());
            return new RelayTicketMessage.Update(
                    ticket.id(),
                    TicketState.RUNNING,
                    Optional.empty(),
                    "",
                    4711,
                    ByteString.copyFrom(allocation.sign(relaysKey).bytes()),
                    ByteString.EMPTY);
        }
    }
}
