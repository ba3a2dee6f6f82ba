package org.cloister.vm.ticket;

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
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.channel.PortDialler;
import org.cloister.protocol.channel.PortEvents;
import org.cloister.protocol.channel.PtyPort;
import org.cloister.protocol.channel.VmPort;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.StreamProof;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStream;
import org.cloister.protocol.ticket.TicketWorld;
import org.cloister.vm.joining.SmallRelay;
import org.cloister.vm.worker.WorkerEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tickets of a controlling VM by its channel: through its port and its host, to an office that asks who it is. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class OfficeLineTest {
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final InstantSource CLOCK = () -> TicketWorld.NOW.plusSeconds(60);
    private static final byte[] NONCE = new byte[StreamProof.NONCE_BYTES];

    private final TicketWorld world = new TicketWorld();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    private final ScheduledExecutorService decisions = Executors.newSingleThreadScheduledExecutor();
    private final BlockingQueue<WorkerEvent> news = new LinkedBlockingQueue<>();
    /** What the office was told, by whoever it was. */
    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();

    @TempDir
    private Path folder;

    private volatile SigningKey relaysKey = world.relay.key();
    private volatile Duration use = Duration.ofHours(1);
    private Site site;
    private SmallRelay relay;
    private AgentLink host;
    private PtyPort pipe;
    private VmPort port;
    private AgentLink vm;
    private SiteWorkers workers;

    OfficeLineTest() throws Exception {}

    @BeforeEach
    void start() throws Exception {
        relay = new SmallRelay(loops);
        relay.office = stream -> new Office().install(stream);
        Forwarding forwarding = new Forwarding(world.hosts.get(0).name(), new Silent());
        EventLoop loop = loops.next();
        host = new AgentLink(loop, relay.dialler(loop), "a host", nobody(), forwarding, new Random(1));
        pipe = PtyPort.open(Files.createDirectory(folder.resolve("port")));
        port = forwarding.open(loops.next(), pipe.socket(), Set.of(world.controller.name()), new PortEvents() {});
        Beliefs beliefs = new Beliefs(world.anchors(), RevocationLists.none(), CLOCK);
        beliefs.take(world.site.revoke(List.of(), BigInteger.ONE, TicketWorld.NOW, Duration.ofHours(24)));
        site = new Site(beliefs);
        workers = new SiteWorkers(
                new SiteWorkers.Terms(
                        world.project.id(),
                        world.controller.key(),
                        MemoryReserves.defaults(false),
                        Duration.ofSeconds(5)),
                TicketBook.open(folder.resolve("book"), 1),
                new Opening(),
                new FakeWitness(),
                decisions,
                CLOCK);
        workers.start(news::add);
    }

    /** The VM's own agent begins. */
    private void begin() {
        OfficeLine line = new OfficeLine(
                () -> new TicketStream.Speaker(
                        world.controller.name(), world.controller.chain(), world.controller.key()),
                welcome -> {
                    site.welcomed(welcome);
                    return use;
                },
                workers);
        vm = new AgentLink(
                loops.next(),
                new PortDialler(loops.next(), pipe.device()),
                "a controlling VM",
                nobody(),
                new Silent() {
                    @Override
                    public void attached(Attachment attachment) {
                        line.enter(attachment.link());
                    }
                },
                new Random(2));
    }

    private static Beliefs nobody() {
        return new Beliefs(Anchors.none(), RevocationLists.none(), CLOCK);
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

    private void heard(String what) throws InterruptedException {
        assertThat(said.poll(40, TimeUnit.SECONDS)).isEqualTo(what);
    }

    private static ResourceRequest request() {
        return new ResourceRequest(2, OptionalInt.of(2), 1, OptionalInt.of(1), 8192, 0, false, 60, List.of());
    }

    @Test
    void a_ticket_goes_out_under_the_vms_own_name_and_key_and_nodes_of_the_site_come_back() throws Exception {
        workers.ask(TICKET, request());
        begin();
        heard("proof of " + world.controller.name());
        heard("order " + TICKET);
        assertThat(news.poll(40, TimeUnit.SECONDS)).isEqualTo(new WorkerEvent.Allocated(TICKET, 2));
    }

    @Test
    void nodes_that_no_relay_of_the_site_gives_are_not_taken_and_the_ticket_is_taken_back() throws Exception {
        relaysKey = world.hosts.get(0).key();
        workers.ask(TICKET, request());
        begin();
        heard("proof of " + world.controller.name());
        heard("order " + TICKET);
        heard("withdraw");
        assertThat(news).isEmpty();
    }

    @Test
    void a_stream_whose_certificates_are_old_is_opened_anew_and_asks_for_what_it_had() throws Exception {
        use = Duration.ofMillis(300);
        workers.ask(TICKET, request());
        begin();
        heard("proof of " + world.controller.name());
        heard("order " + TICKET);
        heard("proof of " + world.controller.name());
        heard("ask " + TICKET);
    }

    /** Slots as the desk has them, without workers. */
    private final class Opening implements Slots {
        @Override
        public int expect(Ticket ticket, OfficeMessage.Update update) throws IOException {
            return site.open(update.allocation().toByteArray()).slots().size();
        }

        @Override
        public void release(String ticket) {}

        @Override
        public void forget(String ticket) {}
    }

    private static class Silent implements AgentEvents {
        @Override
        public void attached(Attachment attachment) {}

        @Override
        public void served(Name name, Optional<CloseReason> refused) {}

        @Override
        public void dialled(Attachment attachment, RelayMessage.Dial dial) {}

        @Override
        public boolean revoked(byte[] signed) {
            return false;
        }

        @Override
        public void lost(String why) {}
    }

    /** As a relay's: asks who it is, says who it is itself, and has nodes for every ticket. */
    private final class Office extends ChannelInboundHandlerAdapter {
        void install(Channel stream) {
            stream.pipeline().addLast(new Framing(LinkLimits.FROM_PARTY_BYTES, PartyMessage::read), this);
            say(
                    stream,
                    new OfficeMessage.Challenge(
                            ByteString.copyFrom(NONCE), world.relay.name().toString()));
        }

        private void say(Channel stream, OfficeMessage message) {
            stream.writeAndFlush(Framing.frame(message.wire()));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            if (message instanceof PartyMessage.Proof proof) {
                said.add("proof of " + proven(proof).name());
                say(
                        ctx.channel(),
                        new OfficeMessage.Welcome(
                                ByteString.EMPTY,
                                world.relay.chain().stream()
                                        .map(ByteString::copyFrom)
                                        .toList()));
            } else if (message instanceof PartyMessage.Order order) {
                Ticket ticket = SignedTicket.read(order.ticket().toByteArray(), world.identity(world.controller))
                        .ticket();
                said.add("order " + ticket.id());
                say(ctx.channel(), running(ticket));
            } else if (message instanceof PartyMessage.Ask ask) {
                said.add("ask " + ask.ticket());
            } else if (message instanceof PartyMessage.Withdraw) {
                said.add("withdraw");
            }
        }

        private Identity proven(PartyMessage.Proof proof) throws IOException {
            Identity who = Chain.parse(
                            proof.chain().stream().map(ByteString::toByteArray).toList())
                    .verifyUnlisted(Set.of(Role.CONTROLLER), world.anchors(), CLOCK.instant());
            byte[] payload = Envelope.parse(proof.signed().toByteArray(), StreamProof.MAX_BYTES)
                    .verify(StreamProof.TYPE, Set.of(who.key()), 1);
            if (!StreamProof.parse(payload)
                    .equals(StreamProof.of(world.relay.name().toString(), NONCE))) {
                throw new MalformedException("another challenge's");
            }
            return who;
        }

        private OfficeMessage.Update running(Ticket ticket) throws GeneralSecurityException {
            Allocation allocation = world.allocation(ticket, world.slots());
            return new OfficeMessage.Update(
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
