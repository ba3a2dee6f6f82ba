package org.cloister.ctl;

import com.google.protobuf.ByteString;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.Digest;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkCodec;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.StreamBytes;
import org.cloister.protocol.link.TlsProfile;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.TicketCheck;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;

/** A relay's end of links and streams of tickets, on loopback: it checks openings as a relay does, and a test moves their jobs. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class MiniOffice implements AutoCloseable {
    private static final long JOB = 7;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel listener;
    private final Beliefs beliefs;
    private final List<byte[]> lists;
    private final MiniExchange exchange = new MiniExchange();

    // Guarded by this object's monitor.
    private final Map<String, SignedOpening> taken = new LinkedHashMap<>();
    private final Map<String, OfficeMessage.Update> standing = new LinkedHashMap<>();
    private final List<ByteString> envelopes = new ArrayList<>();
    private OfficeMessage.Openings openings = new OfficeMessage.Openings(0, List.of());
    private long newest;
    private final List<Channel> attached = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<Digest> kept = new LinkedBlockingQueue<>();
    /** What refusals say. */
    volatile Optional<String> otherWords = Optional.empty();

    private int losses;
    private int busy;

    /** @param lists brought to each link */
    MiniOffice(Credential own, Beliefs beliefs, List<byte[]> lists) {
        this.beliefs = beliefs;
        this.lists = List.copyOf(lists);
        listener = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(initializer(channel -> {
                    channel.pipeline().addLast(new SslHandler(TlsProfile.LINK.server(own, Trust.inAgents(beliefs))));
                    LinkCodec.server(
                            channel.pipeline(),
                            initializer(stream -> stream.pipeline().addLast(new StreamBytes(), new Door(channel))));
                }))
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    private interface Init {
        void on(Channel channel);
    }

    private static ChannelHandler initializer(Init init) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                init.on(channel);
            }
        };
    }

    String address() {
        return "127.0.0.1:" + ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /** Openings up to this epoch were taken. */
    synchronized void newest(long epoch) {
        newest = epoch;
    }

    /** A newer list, to each link; returns when all have it in force. */
    void bring(byte[] list) throws InterruptedException {
        Digest digest = Digest.sha256(list);
        attached.forEach(each ->
                each.writeAndFlush(Framing.frame(new RelayMessage.Revocations(ByteString.copyFrom(list)).wire())));
        int missing = attached.size();
        while (missing > 0) {
            Digest next = kept.poll(20, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError(missing + " links do not keep a newer list");
            }
            missing -= next.equals(digest) ? 1 : 0;
        }
    }

    /** So many answers are lost, with their links. */
    synchronized void lose(int answers) {
        losses = answers;
    }

    /** So many messages are answered with {@code unavailable}. */
    synchronized void busy(int messages) {
        busy = messages;
    }

    synchronized List<Opening> taken() {
        return taken.values().stream().map(SignedOpening::opening).toList();
    }

    /** As they came. */
    synchronized List<ByteString> envelopes() {
        return List.copyOf(envelopes);
    }

    synchronized void move(String opening, TicketState state, Optional<TicketEnd> end) {
        standing.put(opening, update(opening, state, end));
    }

    /** What is said of all openings. */
    synchronized void openings(OfficeMessage.Openings said) {
        openings = said;
    }

    /** It runs, where the allocation says. */
    synchronized void run(String opening, ByteString allocation) {
        standing.put(
                opening,
                new OfficeMessage.Update(
                        opening, TicketState.RUNNING, Optional.empty(), "", JOB, allocation, ByteString.EMPTY));
    }

    /** Who serves names and has circuits over this. */
    MiniExchange exchange() {
        return exchange;
    }

    private static OfficeMessage.Update update(String opening, TicketState state, Optional<TicketEnd> end) {
        long job = state == TicketState.ACCEPTED ? 0 : JOB;
        return new OfficeMessage.Update(opening, state, end, "", job, ByteString.EMPTY, ByteString.EMPTY);
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private synchronized OfficeMessage answer(PartyMessage message) throws IOException {
        if (busy > 0) {
            busy--;
            return new OfficeMessage.Refused("", TicketClause.UNAVAILABLE, "ask again");
        }
        if (message instanceof PartyMessage.Open open) {
            envelopes.add(open.opening());
            return take(SignedOpening.read(open.opening().toByteArray(), opener(open.chain())));
        }
        if (message instanceof PartyMessage.Close close) {
            Withdrawal withdrawal =
                    SignedOpening.readWithdrawal(close.withdrawal().toByteArray(), opener(close.chain()));
            OfficeMessage.Update before = standing.get(withdrawal.ticket());
            if (before != null) {
                // It ends after the answer.
                move(withdrawal.ticket(), TicketState.ENDED, Optional.of(TicketEnd.WITHDRAWN));
            }
            return before == null ? unknown(withdrawal.ticket()) : before;
        }
        if (message instanceof PartyMessage.AskOpenings) {
            return openings;
        }
        String asked = ((PartyMessage.Ask) message).ticket();
        return standing.containsKey(asked) ? standing.get(asked) : unknown(asked);
    }

    private OfficeMessage take(SignedOpening signed) throws TicketRefused {
        SignedOpening before = taken.get(signed.id());
        if (before == null) {
            TicketCheck.requireTime(signed, Instant.now());
            TicketCheck.requireNewer(signed, newest);
            newest = signed.epoch();
            taken.put(signed.id(), signed);
            move(signed.id(), TicketState.ACCEPTED, Optional.empty());
        } else if (!before.digest().equals(signed.digest())) {
            return new OfficeMessage.Refused(signed.id(), TicketClause.USED, "another one");
        }
        return standing.get(signed.id());
    }

    private Identity opener(List<ByteString> chain) throws IOException {
        return beliefs.verify(
                Chain.parse(chain.stream().map(ByteString::toByteArray).toList()), Set.of(Role.OPENER));
    }

    private static OfficeMessage unknown(String opening) {
        return new OfficeMessage.Refused(opening, TicketClause.PROJECT, "none of that id");
    }

    private synchronized boolean isLost() {
        losses--;
        return losses >= 0;
    }

    /** Of one stream, whichever it is. */
    private final class Door extends ChannelInboundHandlerAdapter {
        private final Channel link;

        Door(Channel link) {
            this.link = link;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
            if (event instanceof StreamBytes.Head head) {
                Request request = Request.parse(head.headers());
                if (request instanceof Request.Circuit || request instanceof Request.DialBack) {
                    ctx.pipeline().remove(StreamBytes.class);
                    ctx.pipeline().remove(this);
                    exchange.asked(ctx.channel(), request);
                    return;
                }
                boolean tickets = request instanceof Request.Tickets;
                ctx.writeAndFlush(new DefaultHttp2HeadersFrame(
                        new DefaultHttp2Headers().status("200").set(Request.VERSION, "1"), false));
                ctx.pipeline()
                        .addLast(
                                tickets
                                        ? new Framing(LinkLimits.FROM_PARTY_BYTES, PartyMessage::read)
                                        : new Framing(LinkLimits.FROM_AGENT_BYTES, AgentMessage::read),
                                tickets ? new Desk(link) : new Attached());
                if (tickets) {
                    ctx.writeAndFlush(Framing.frame(new OfficeMessage.Welcome(ByteString.EMPTY, List.of()).wire()));
                }
            }
        }
    }

    private final class Attached extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof AgentMessage.RevocationsKept has) {
                kept.add(has.list());
            } else if (message instanceof AgentMessage.Attach) {
                attached.add(ctx.channel());
                ctx.channel().closeFuture().addListener(closed -> attached.remove(ctx.channel()));
                say(ctx, new RelayMessage.Attached("r1", Pace.UNTOLD, lists.size()));
                lists.forEach(list -> say(ctx, new RelayMessage.Revocations(ByteString.copyFrom(list))));
            } else if (message instanceof AgentMessage.Serve serve) {
                exchange.serve(serve.name(), ctx.channel());
                say(ctx, new RelayMessage.Served(serve.name(), Optional.empty()));
            }
        }

        private static void say(ChannelHandlerContext ctx, RelayMessage message) {
            ctx.channel().writeAndFlush(Framing.frame(message.wire()));
        }
    }

    private final class Desk extends ChannelInboundHandlerAdapter {
        private final Channel link;

        Desk(Channel link) {
            this.link = link;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws IOException {
            OfficeMessage answer;
            try {
                answer = answer((PartyMessage) message);
            } catch (TicketRefused e) {
                answer = new OfficeMessage.Refused("", e.clause(), otherWords.orElse(e.detail()), e.newestEpoch());
            }
            if (isLost()) {
                link.close();
            } else {
                ctx.channel().writeAndFlush(Framing.frame(answer.wire()));
            }
        }
    }
}
