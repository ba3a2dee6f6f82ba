package org.cloister.lab.relay;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/**
 * Two connections to {@code nats-server} with the TLS that links have, in NATS's own protocol: one publishes
 * {@code there} and subscribes to {@code back}, the other does the reverse.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write shows at the other end
final class NatsEndpoints extends EndpointPair {
    private static final ByteBuf BYTES =
            Unpooled.unreleasableBuffer(Unpooled.directBuffer(1 << 16).writeZero(1 << 16));
    private static final ByteBuf LINE_END = text("\r\n");

    private final Connection first;
    private final Connection second;

    NatsEndpoints(RelaySiteFiles site, int port, EventLoopGroup loops)
            throws IOException, InterruptedException, TimeoutException {
        CertifiedPeerVerifier trust =
                CertifiedPeerVerifier.forRelays(site.beliefs()).only(RelaySiteFiles.RELAY);
        TlsCredential own = site.credential(RelaySiteFiles.HOST);
        first = new Connection(loops, port, own, trust, "back", whole -> onFirst(), part -> {});
        second = new Connection(loops, port, own, trust, "there", whole -> {}, this::onSecond);
        await(first.ready);
        await(second.ready);
    }

    @Override
    Channel first() {
        return first.channel;
    }

    @Override
    void send(int bytes) {
        publish(first.channel, "there", bytes);
    }

    @Override
    void answer(int bytes) {
        publish(second.channel, "back", bytes);
        second.channel.flush();
    }

    private static void publish(Channel channel, String subject, int bytes) {
        channel.write(text("PUB " + subject + " " + bytes + "\r\n"));
        channel.write(BYTES.slice(0, bytes));
        channel.write(LINE_END.duplicate());
    }

    private static ByteBuf text(String line) {
        return Unpooled.unreleasableBuffer(Unpooled.copiedBuffer(line, StandardCharsets.US_ASCII));
    }

    /** A connection that receives the greeting in clear, then starts TLS, then subscribes. */
    private static final class Connection {
        private final CountDownLatch ready = new CountDownLatch(1);
        private final Channel channel;

        Connection(
                EventLoopGroup loops,
                int port,
                TlsCredential own,
                CertifiedPeerVerifier trust,
                String subject,
                IntConsumer whole,
                IntConsumer part)
                throws InterruptedException {
            channel = new Bootstrap()
                    .group(loops)
                    .channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel made) {
                            made.pipeline().addLast(new Greeting(own, trust), new Reader(ready, whole, part));
                        }
                    })
                    .connect(RelaySiteFiles.loopback(port))
                    .sync()
                    .channel();
            channel.eventLoop()
                    .submit(() -> channel.pipeline().get(Reader.class).subject = subject)
                    .sync();
        }
    }

    /** Waits for the server's greeting, which precedes TLS. */
    private static final class Greeting extends ChannelInboundHandlerAdapter {
        private final TlsCredential own;
        private final CertifiedPeerVerifier trust;

        Greeting(TlsCredential own, CertifiedPeerVerifier trust) {
            this.own = own;
            this.trust = trust;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ((ByteBuf) message).release();
            SslHandler tls = new SslHandler(TlsProfile.LINK.client(own, trust));
            ctx.pipeline().replace(this, "tls", tls);
            Reader reader = ctx.pipeline().get(Reader.class);
            tls.handshakeFuture().addListener(done -> {
                Channel channel = ctx.channel();
                channel.write(text("CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":true}\r\n"));
                channel.write(text("SUB " + reader.subject + " 1\r\n"));
                channel.writeAndFlush(text("PING\r\n"));
            });
        }
    }

    /** Reads MSG, PING and PONG; anything else is an error. */
    private static final class Reader extends ByteToMessageDecoder {
        private final CountDownLatch ready;
        private final IntConsumer whole;
        private final IntConsumer part;
        private volatile String subject = "";
        private int message;
        private int left;

        Reader(CountDownLatch ready, IntConsumer whole, IntConsumer part) {
            this.ready = ready;
            this.whole = whole;
            this.part = part;
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws IOException {
            if (left > 0) {
                int bytes = Math.min(left, in.readableBytes());
                in.skipBytes(bytes);
                // A line end follows the message.
                int ofMessage = Math.max(0, Math.min(left - 2, bytes));
                left -= bytes;
                if (ofMessage > 0) {
                    part.accept(ofMessage);
                }
                if (left == 0) {
                    whole.accept(message);
                }
                return;
            }
            int end = in.bytesBefore((byte) '\n');
            if (end < 0) {
                return;
            }
            String line = in.readCharSequence(end + 1, StandardCharsets.US_ASCII)
                    .toString()
                    .strip();
            if (line.startsWith("MSG ")) {
                message = Integer.parseInt(line.substring(line.lastIndexOf(' ') + 1));
                left = message + 2;
            } else if (line.equals("PING")) {
                ctx.writeAndFlush(text("PONG\r\n"));
            } else if (line.equals("PONG")) {
                ready.countDown();
            } else if (!line.startsWith("INFO ")) {
                throw new IOException("nats-server: " + line);
            }
        }
    }
}
