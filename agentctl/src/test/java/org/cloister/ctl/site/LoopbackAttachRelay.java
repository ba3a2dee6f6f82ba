package org.cloister.ctl.site;

import com.google.protobuf.ByteString;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/** A relay's end of one attach stream, on loopback: a test says what it likes and hears what the desk says. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class LoopbackAttachRelay implements AutoCloseable {
    private final BlockingQueue<AgentMessage> messages = new LinkedBlockingQueue<>();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel listener;
    private volatile Channel attached;
    /** Revocation lists that a new agent hears. */
    volatile List<byte[]> lists = List.of();

    LoopbackAttachRelay(TlsCredential own, CertifiedPeerVerifier authorities) {
        listener = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new SslHandler(TlsProfile.LINK.server(own, authorities)));
                        LinkCodec.server(channel.pipeline(), LinkStreams.MACHINE, new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline()
                                        .addLast(
                                                new StreamBytes(),
                                                new MessageFraming(
                                                        ProtocolLimits.AUTHORITY_MESSAGE_BYTES, AgentMessage::read),
                                                new AttachHandler());
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    String address() {
        return "127.0.0.1:" + ((InetSocketAddress) listener.localAddress()).getPort();
    }

    void send(RelayMessage message) {
        attached.writeAndFlush(MessageFraming.frame(message.wire()));
    }

    /** What the relay took comes back. */
    void confirm(AgentMessage.DeliverRevocations delivery) {
        send(new RelayMessage.Revocations(delivery.signed()));
    }

    /** The next message of a kind. */
    <T extends AgentMessage> T receive(Class<T> kind) throws InterruptedException {
        while (true) {
            AgentMessage message = messages.poll(60, TimeUnit.SECONDS);
            if (message == null) {
                throw new AssertionError("no " + kind.getSimpleName());
            }
            if (kind.isInstance(message)) {
                return kind.cast(message);
            }
        }
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private final class AttachHandler extends ChannelInboundHandlerAdapter {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof StreamBytes.Head) {
                ctx.channel()
                        .writeAndFlush(new DefaultHttp2HeadersFrame(
                                new DefaultHttp2Headers().status("200").set(StreamRequest.VERSION, "1"), false));
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof AgentMessage.Attach) {
                attached = ctx.channel();
                send(new RelayMessage.Attached("r1", ReconnectDelay.DEFAULT, lists.size()));
                lists.forEach(list -> send(new RelayMessage.Revocations(ByteString.copyFrom(list))));
            }
            messages.add((AgentMessage) message);
        }
    }
}
