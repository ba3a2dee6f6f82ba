package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.FaultyPath;
import org.cloister.protocol.circuit.Splice;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.Answer;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkCodec;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.StreamBytes;
import org.cloister.protocol.link.Token;

/**
 * What host and relay together are to a VM: serves names, splices circuits, answers a VM's two questions. Believes everybody,
 * for whom to believe the ends of circuits have to know.
 */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class SmallRelay implements AutoCloseable {
    private static final Splice.Limits LIMITS = new Splice.Limits(Duration.ofMinutes(5), Duration.ofHours(1));

    private final Channel server;
    private final SecureRandom random = new SecureRandom();
    private final Map<Name, Channel> served = new ConcurrentHashMap<>();
    private final Set<Channel> attached = ConcurrentHashMap.newKeySet();
    private final Map<String, Waiting> waiting = new ConcurrentHashMap<>();
    private final Set<Splice> splices = ConcurrentHashMap.newKeySet();
    /** To all who attach. */
    final Set<ByteString> lists = ConcurrentHashMap.newKeySet();

    volatile Function<EvidenceMessage.Asked, EvidenceMessage.Answer> host =
            asked -> new EvidenceMessage.Refused(EvidenceMessage.Why.FAILED);
    volatile Function<AssignmentMessage.Asked, AssignmentMessage.Answer> assignment =
            asked -> new AssignmentMessage.Refused(AssignmentMessage.Why.FAILED);

    /** Of each circuit that is spliced. */
    volatile Supplier<FaultyPath> paths = FaultyPath::sound;

    /** Takes streams of tickets, each accepted already. */
    public volatile Consumer<Channel> office = stream -> stream.close();

    private record Waiting(Channel stream, int version) {}

    public SmallRelay(EventLoopGroup loops) {
        this.server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        LinkCodec.server(connection.pipeline(), new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline().addLast(new First());
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    /** In the clear, as a VM's channel is. */
    public AgentLink.Dialler dialler(EventLoop loop) {
        SocketAddress address = server.localAddress();
        return () -> {
            Promise<Link> promise = loop.newPromise();
            ChannelFuture connecting = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            LinkCodec.client(channel.pipeline());
                        }
                    })
                    .connect(address);
            connecting.addListener(done -> {
                if (done.isSuccess()) {
                    promise.trySuccess(new Link(connecting.channel()));
                } else {
                    promise.tryFailure(done.cause());
                }
            });
            return promise;
        };
    }

    boolean serves(Name name) {
        return served.containsKey(name);
    }

    /** To all who are attached. */
    void deliver(byte[] list) {
        served.values()
                .forEach(stream -> stream.writeAndFlush(
                        Framing.frame(new RelayMessage.Revocations(ByteString.copyFrom(list)).wire())));
    }

    int attached() {
        return attached.size();
    }

    /** As the host of whoever has attached. */
    void end(Duration within) {
        attached.forEach(stream -> stream.writeAndFlush(Framing.frame(new RelayMessage.Leave(within).wire())));
    }

    /** As a relay that goes. */
    void cut() {
        splices.forEach(splice -> splice.end(Close.byRelay(CloseReason.LOST)));
        splices.clear();
    }

    @Override
    public void close() {
        server.close();
    }

    /** The first on each stream. */
    private final class First extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
            if (!(message instanceof Http2HeadersFrame headers)) {
                ReferenceCountUtil.release(message);
                return;
            }
            Request request = Request.parse(headers.headers());
            int version = Answer.version(request).orElseThrow();
            Channel stream = ctx.channel();
            ctx.pipeline().remove(this);
            if (request instanceof Request.Attach) {
                stream.pipeline()
                        .addLast(
                                new StreamBytes(),
                                new Framing(LinkLimits.FROM_AGENT_BYTES, AgentMessage::read),
                                new Attached());
                Answer.accept(stream, version);
            } else if (request instanceof Request.Circuit circuit) {
                dial(stream, version, circuit);
            } else if (request instanceof Request.DialBack back) {
                splice(stream, version, back);
            } else if (request instanceof Request.Tickets) {
                stream.pipeline().addLast(new StreamBytes());
                Answer.accept(stream, version);
                office.accept(stream);
            } else if (request instanceof Request.Evidence) {
                answer(
                        stream,
                        version,
                        EvidenceMessage::readAsked,
                        asked -> host.apply((EvidenceMessage.Asked) asked).wire());
            } else {
                answer(
                        stream,
                        version,
                        AssignmentMessage::readAsked,
                        asked -> assignment
                                .apply((AssignmentMessage.Asked) asked)
                                .wire());
            }
        }
    }

    private void dial(Channel opener, int version, Request.Circuit circuit) {
        Channel target = served.get(circuit.to());
        if (target == null || !target.isActive()) {
            Answer.refuse(opener, Close.byRelay(CloseReason.UNKNOWN));
            return;
        }
        Token token = Token.random(random);
        waiting.put(token.toString(), new Waiting(opener, version));
        target.writeAndFlush(
                Framing.frame(new RelayMessage.Dial(token, circuit.from(), circuit.to(), circuit.policy()).wire()));
    }

    private void splice(Channel target, int version, Request.DialBack back) {
        Waiting opener = waiting.remove(back.token().toString());
        Splice splice = new Splice(opener.stream, target, LIMITS, bytes -> {}, close -> {});
        splices.add(splice);
        FaultyPath path = paths.get();
        path.cutBy(() -> splice.end(Close.byRelay(CloseReason.LOST)));
        opener.stream.pipeline().addLast(path.toTarget());
        target.pipeline().addLast(path.toOpener());
        splice.start(stream -> Answer.accept(stream, opener.version), stream -> Answer.accept(stream, version));
    }

    private static void answer(
            Channel stream, int version, Framing.Reader reader, Function<Object, MessageLite> answer) {
        stream.pipeline()
                .addLast(
                        new StreamBytes(),
                        new Framing(LinkLimits.FROM_AGENT_BYTES, reader),
                        new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object asked) {
                                ctx.write(Framing.frame(answer.apply(asked)));
                                ctx.pipeline().get(StreamBytes.class).endOutput();
                            }
                        });
        Answer.accept(stream, version);
    }

    private final class Attached extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            Channel stream = ctx.channel();
            if (message instanceof AgentMessage.Attach) {
                stream.write(Framing.frame(new RelayMessage.Attached(
                                "r1.relay.site.cloister.internal", Pace.ON_CHANNEL, lists.size(), ByteString.EMPTY)
                        .wire()));
                lists.forEach(list -> stream.write(Framing.frame(new RelayMessage.Revocations(list).wire())));
                stream.flush();
                attached.add(stream);
            } else if (message instanceof AgentMessage.Serve serve) {
                served.put(serve.name(), stream);
                stream.writeAndFlush(Framing.frame(new RelayMessage.Served(serve.name(), Optional.empty()).wire()));
            } else if (message instanceof AgentMessage.DialRefused refused) {
                Waiting opener = waiting.remove(refused.token().toString());
                if (opener != null) {
                    Answer.refuse(opener.stream, new Close(Close.Side.TARGET, refused.reason()));
                }
            }
        }
    }
}
