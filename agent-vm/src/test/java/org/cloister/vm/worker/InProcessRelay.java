package org.cloister.vm.worker;

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
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.CircuitSplice;
import org.cloister.transport.circuit.FaultyPath;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.link.StreamResponse;

/**
 * Host and relay as a VM sees them: serves names, splices circuits, answers a VM's two questions. It trusts every peer,
 * since the ends of circuits must know whom to trust.
 */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class InProcessRelay implements AutoCloseable {
    private static final CircuitSplice.Limits LIMITS =
            new CircuitSplice.Limits(Duration.ofMinutes(5), Duration.ofHours(1));

    private final Channel server;
    private final SecureRandom random = new SecureRandom();
    private final Map<CertificateName, Channel> served = new ConcurrentHashMap<>();
    private final Set<Channel> attached = ConcurrentHashMap.newKeySet();
    private final Map<String, PendingCircuit> waiting = new ConcurrentHashMap<>();
    private final Set<CircuitSplice> splices = ConcurrentHashMap.newKeySet();
    /** To all who attach. */
    final Set<ByteString> lists = ConcurrentHashMap.newKeySet();

    volatile Function<EvidenceMessage.Request, EvidenceMessage.Response> host =
            received -> new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.FAILED);
    volatile Function<AssignmentMessage.Request, AssignmentMessage.Response> assignment =
            received -> new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.FAILED);

    /** Of each circuit that is spliced. */
    volatile Supplier<FaultyPath> paths = FaultyPath::sound;

    /** Takes streams of tickets, each accepted already. */
    public volatile Consumer<Channel> ticketServer = stream -> stream.close();

    private record PendingCircuit(Channel stream, int version) {}

    public InProcessRelay(EventLoopGroup loops) {
        this.server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        LinkCodec.server(connection.pipeline(), LinkStreams.MACHINE, new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline().addLast(new FirstMessage());
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
            Promise<ClientLink> promise = loop.newPromise();
            ChannelFuture connecting = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            LinkCodec.client(channel.pipeline(), LinkStreams.MACHINE);
                        }
                    })
                    .connect(address);
            connecting.addListener(done -> {
                if (done.isSuccess()) {
                    promise.trySuccess(new ClientLink(connecting.channel()));
                } else {
                    promise.tryFailure(done.cause());
                }
            });
            return promise;
        };
    }

    boolean serves(CertificateName name) {
        return served.containsKey(name);
    }

    /** To all who are attached. */
    void deliver(byte[] list) {
        served.values()
                .forEach(stream -> stream.writeAndFlush(
                        MessageFraming.frame(new RelayMessage.Revocations(ByteString.copyFrom(list)).wire())));
    }

    int attached() {
        return attached.size();
    }

    /** As the host of whoever has attached. */
    void end(Duration within) {
        attached.forEach(
                stream -> stream.writeAndFlush(MessageFraming.frame(new RelayMessage.ShutdownRequest(within).wire())));
    }

    /** As a relay that goes. */
    void cut() {
        splices.forEach(splice -> splice.close(CircuitClose.byRelay(CloseReason.LOST)));
        splices.clear();
    }

    @Override
    public void close() {
        server.close();
    }

    /** The first on each stream. */
    private final class FirstMessage extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
            if (!(message instanceof Http2HeadersFrame headers)) {
                ReferenceCountUtil.release(message);
                return;
            }
            StreamRequest request = StreamRequest.parse(headers.headers());
            int version = StreamResponse.version(request).orElseThrow();
            Channel stream = ctx.channel();
            ctx.pipeline().remove(this);
            if (request instanceof StreamRequest.Attach) {
                stream.pipeline()
                        .addLast(
                                new StreamBytes(),
                                new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, AgentMessage::read),
                                new AttachHandler());
                StreamResponse.accept(stream, version);
            } else if (request instanceof StreamRequest.Circuit circuit) {
                dial(stream, version, circuit);
            } else if (request instanceof StreamRequest.DialBack back) {
                splice(stream, version, back);
            } else if (request instanceof StreamRequest.Tickets) {
                stream.pipeline().addLast(new StreamBytes());
                StreamResponse.accept(stream, version);
                ticketServer.accept(stream);
            } else if (request instanceof StreamRequest.Evidence) {
                answer(
                        stream,
                        version,
                        EvidenceMessage::readRequest,
                        received ->
                                host.apply((EvidenceMessage.Request) received).wire());
            } else {
                answer(
                        stream,
                        version,
                        AssignmentMessage::readRequest,
                        received -> assignment
                                .apply((AssignmentMessage.Request) received)
                                .wire());
            }
        }
    }

    private void dial(Channel opener, int version, StreamRequest.Circuit circuit) {
        Channel target = served.get(circuit.to());
        if (target == null || !target.isActive()) {
            StreamResponse.refuse(opener, CircuitClose.byRelay(CloseReason.UNKNOWN));
            return;
        }
        DialBackToken token = DialBackToken.random(random);
        waiting.put(token.toString(), new PendingCircuit(opener, version));
        target.writeAndFlush(MessageFraming.frame(
                new RelayMessage.Dial(token, circuit.from(), circuit.to(), circuit.policy()).wire()));
    }

    private void splice(Channel target, int version, StreamRequest.DialBack back) {
        PendingCircuit opener = waiting.remove(back.token().toString());
        CircuitSplice splice = new CircuitSplice(opener.stream, target, LIMITS, bytes -> {}, close -> {});
        splices.add(splice);
        FaultyPath path = paths.get();
        path.cutBy(() -> splice.close(CircuitClose.byRelay(CloseReason.LOST)));
        opener.stream.pipeline().addLast(path.toTarget());
        target.pipeline().addLast(path.toOpener());
        splice.start(
                stream -> StreamResponse.accept(stream, opener.version),
                stream -> StreamResponse.accept(stream, version));
    }

    private static void answer(
            Channel stream, int version, MessageFraming.Reader reader, Function<Object, MessageLite> answer) {
        stream.pipeline()
                .addLast(
                        new StreamBytes(),
                        new MessageFraming(ProtocolLimits.AGENT_MESSAGE_BYTES, reader),
                        new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object received) {
                                ctx.write(MessageFraming.frame(answer.apply(received)));
                                ctx.pipeline().get(StreamBytes.class).shutdownOutput();
                            }
                        });
        StreamResponse.accept(stream, version);
    }

    private final class AttachHandler extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            Channel stream = ctx.channel();
            if (message instanceof AgentMessage.Attach) {
                stream.write(MessageFraming.frame(new RelayMessage.Attached(
                                "r1.relay.site.cloister.internal",
                                ReconnectDelay.ON_CHANNEL,
                                lists.size(),
                                ByteString.EMPTY)
                        .wire()));
                lists.forEach(list -> stream.write(MessageFraming.frame(new RelayMessage.Revocations(list).wire())));
                stream.flush();
                attached.add(stream);
            } else if (message instanceof AgentMessage.Serve serve) {
                served.put(serve.name(), stream);
                stream.writeAndFlush(
                        MessageFraming.frame(new RelayMessage.Served(serve.name(), Optional.empty()).wire()));
            } else if (message instanceof AgentMessage.DialRefused refused) {
                PendingCircuit opener = waiting.remove(refused.token().toString());
                if (opener != null) {
                    StreamResponse.refuse(opener.stream, new CircuitClose(CircuitClose.Side.TARGET, refused.reason()));
                }
            }
        }
    }
}
