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
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketVerifier;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/** A relay's end of links and streams of tickets, on loopback: it checks openings as a relay does, and a test moves their jobs. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class LoopbackTicketRelay implements AutoCloseable {
    private static final long JOB = 7;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel listener;
    private final TrustStore trustStore;
    private final List<byte[]> lists;
    private final LoopbackCircuits exchange = new LoopbackCircuits();

    // Guarded by this object's monitor.
    private final Map<String, SignedOpening> signedOpenings = new LinkedHashMap<>();
    private final Map<String, RelayTicketMessage.Update> updates = new LinkedHashMap<>();
    private final List<ByteString> envelopes = new ArrayList<>();
    private RelayTicketMessage.Openings openings = new RelayTicketMessage.Openings(0, List.of());
    private long newest;
    private final List<Channel> attached = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<Digest> kept = new LinkedBlockingQueue<>();
    /** Streams of tickets that devices opened. */
    final AtomicInteger ticketStreams = new AtomicInteger();
    /** Number of updates of another opening that follow each answer. */
    volatile int unasked;
    /** What refusals say. */
    volatile Optional<String> otherText = Optional.empty();

    private int losses;
    private int busy;

    /** @param lists brought to each link */
    LoopbackTicketRelay(TlsCredential own, TrustStore trustStore, List<byte[]> lists) {
        this.trustStore = trustStore;
        this.lists = List.copyOf(lists);
        listener = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(initializer(channel -> {
                    channel.pipeline()
                            .addLast(new SslHandler(
                                    TlsProfile.LINK.server(own, CertifiedPeerVerifier.forAgents(trustStore))));
                    LinkCodec.server(
                            channel.pipeline(),
                            LinkStreams.MACHINE,
                            initializer(
                                    stream -> stream.pipeline().addLast(new StreamBytes(), new StreamEnd(channel))));
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
    synchronized void setNewestEpoch(long epoch) {
        newest = epoch;
    }

    /** A newer list, to each link; returns when all have it in force. */
    void deliverList(byte[] list) throws InterruptedException {
        Digest digest = Digest.sha256(list);
        attached.forEach(each -> each.writeAndFlush(
                MessageFraming.frame(new RelayMessage.Revocations(ByteString.copyFrom(list)).wire())));
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

    synchronized List<Opening> acceptedOpenings() {
        return signedOpenings.values().stream().map(SignedOpening::opening).toList();
    }

    /** As they came. */
    synchronized List<ByteString> envelopes() {
        return List.copyOf(envelopes);
    }

    synchronized void move(String opening, TicketState state, Optional<TicketEnd> end) {
        updates.put(opening, update(opening, state, end));
    }

    /** What is said of all openings. */
    synchronized void openings(RelayTicketMessage.Openings message) {
        openings = message;
    }

    /** It runs, where the allocation says. */
    synchronized void run(String opening, ByteString allocation) {
        updates.put(
                opening,
                new RelayTicketMessage.Update(
                        opening, TicketState.RUNNING, Optional.empty(), "", JOB, allocation, ByteString.EMPTY));
    }

    /** Who serves names and has circuits over this. */
    LoopbackCircuits exchange() {
        return exchange;
    }

    private static RelayTicketMessage.Update update(String opening, TicketState state, Optional<TicketEnd> end) {
        long job = state == TicketState.ACCEPTED ? 0 : JOB;
        return new RelayTicketMessage.Update(opening, state, end, "", job, ByteString.EMPTY, ByteString.EMPTY);
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private synchronized RelayTicketMessage answer(AgentTicketMessage message) throws IOException {
        if (busy > 0) {
            busy--;
            return new RelayTicketMessage.Refused("", TicketClause.UNAVAILABLE, "ask again");
        }
        if (message instanceof AgentTicketMessage.Open open) {
            envelopes.add(open.opening());
            return accept(SignedOpening.read(open.opening().toByteArray(), opener(open.chain())));
        }
        if (message instanceof AgentTicketMessage.Close close) {
            Withdrawal withdrawal =
                    SignedOpening.readWithdrawal(close.withdrawal().toByteArray(), opener(close.chain()));
            RelayTicketMessage.Update before = updates.get(withdrawal.ticket());
            if (before != null) {
                // It ends after the answer.
                move(withdrawal.ticket(), TicketState.ENDED, Optional.of(TicketEnd.WITHDRAWN));
            }
            return before == null ? unknown(withdrawal.ticket()) : before;
        }
        if (message instanceof AgentTicketMessage.QueryOpenings) {
            return openings;
        }
        String ticket = ((AgentTicketMessage.QueryTicket) message).ticket();
        return updates.containsKey(ticket) ? updates.get(ticket) : unknown(ticket);
    }

    private RelayTicketMessage accept(SignedOpening signed) throws TicketRefusedException {
        SignedOpening before = signedOpenings.get(signed.id());
        if (before == null) {
            TicketVerifier.requireTime(signed, Instant.now());
            TicketVerifier.requireNewer(signed, newest);
            newest = signed.epoch();
            signedOpenings.put(signed.id(), signed);
            move(signed.id(), TicketState.ACCEPTED, Optional.empty());
        } else if (!before.digest().equals(signed.digest())) {
            return new RelayTicketMessage.Refused(signed.id(), TicketClause.USED, "another one");
        }
        return updates.get(signed.id());
    }

    private CertifiedIdentity opener(List<ByteString> chain) throws IOException {
        return trustStore.verify(
                CertificateChain.parse(
                        chain.stream().map(ByteString::toByteArray).toList()),
                Set.of(CertificateRole.OPENER));
    }

    private static RelayTicketMessage unknown(String opening) {
        return new RelayTicketMessage.Refused(opening, TicketClause.PROJECT, "none of that id");
    }

    private synchronized boolean isLost() {
        losses--;
        return losses >= 0;
    }

    /** End of one ticket stream. */
    private final class StreamEnd extends ChannelInboundHandlerAdapter {
        private final Channel link;

        StreamEnd(Channel link) {
            this.link = link;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
            if (event instanceof StreamBytes.Head head) {
                StreamRequest request = StreamRequest.parse(head.headers());
                if (request instanceof StreamRequest.Circuit || request instanceof StreamRequest.DialBack) {
                    ctx.pipeline().remove(StreamBytes.class);
                    ctx.pipeline().remove(this);
                    exchange.asked(ctx.channel(), request);
                    return;
                }
                boolean tickets = request instanceof StreamRequest.Tickets;
                ctx.writeAndFlush(new DefaultHttp2HeadersFrame(
                        new DefaultHttp2Headers().status("200").set(StreamRequest.VERSION, "1"), false));
                ctx.pipeline()
                        .addLast(
                                tickets
                                        ? new MessageFraming(
                                                ProtocolLimits.AGENT_TICKET_MESSAGE_BYTES, AgentTicketMessage::read)
                                        : new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, AgentMessage::read),
                                tickets ? new TicketServer(link) : new AttachHandler());
                if (tickets) {
                    ticketStreams.incrementAndGet();
                    ctx.writeAndFlush(
                            MessageFraming.frame(new RelayTicketMessage.Welcome(ByteString.EMPTY, List.of()).wire()));
                }
            }
        }
    }

    private final class AttachHandler extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof AgentMessage.RevocationsKept has) {
                kept.add(has.list());
            } else if (message instanceof AgentMessage.Attach) {
                attached.add(ctx.channel());
                ctx.channel().closeFuture().addListener(closed -> attached.remove(ctx.channel()));
                send(ctx, new RelayMessage.Attached("r1", ReconnectDelay.DEFAULT, lists.size()));
                lists.forEach(list -> send(ctx, new RelayMessage.Revocations(ByteString.copyFrom(list))));
            } else if (message instanceof AgentMessage.Serve serve) {
                exchange.serve(serve.name(), ctx.channel());
                send(ctx, new RelayMessage.Served(serve.name(), Optional.empty()));
            }
        }

        private static void send(ChannelHandlerContext ctx, RelayMessage message) {
            ctx.channel().writeAndFlush(MessageFraming.frame(message.wire()));
        }
    }

    private final class TicketServer extends ChannelInboundHandlerAdapter {
        private final Channel link;

        TicketServer(Channel link) {
            this.link = link;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws IOException {
            RelayTicketMessage answer;
            try {
                answer = answer((AgentTicketMessage) message);
            } catch (TicketRefusedException e) {
                answer = new RelayTicketMessage.Refused("", e.clause(), otherText.orElse(e.detail()), e.newestEpoch());
            }
            if (isLost()) {
                link.close();
            } else {
                ctx.channel().writeAndFlush(MessageFraming.frame(answer.wire()));
                RelayTicketMessage other = update("b".repeat(26), TicketState.QUEUED, Optional.empty());
                for (int i = 0; i < unasked; i++) {
                    ctx.channel().writeAndFlush(MessageFraming.frame(other.wire()));
                }
            }
        }
    }
}
