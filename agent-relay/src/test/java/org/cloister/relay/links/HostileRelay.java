package org.cloister.relay.links;

import com.google.protobuf.ByteString;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.DialBackToken;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/**
 * A relay in wrong hands, with the true relay's key: records all, says what it likes in Dial, and does to the bytes of
 * circuits what its {@link Tamper} says. One attached agent, one circuit at a time.
 */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class HostileRelay implements AutoCloseable {
    /** Changes the n-th piece of one direction; an empty list holds it back, null cuts the circuit. */
    @FunctionalInterface
    interface Tamper {
        List<byte[]> pass(boolean fromOpener, int n, byte[] piece);
    }

    static final Tamper HONEST = (fromOpener, n, piece) -> List.of(piece);

    final ByteArrayOutputStream recorded = new ByteArrayOutputStream();
    private final Channel listener;
    private final UnaryOperator<RelayMessage.Dial> falsify;
    private final Tamper tamper;
    /** What it brings of revocations. */
    volatile List<byte[]> lists;

    private volatile Channel attached;
    private volatile Channel opener;

    HostileRelay(RelayFixture fixture, TlsCredential stolen, UnaryOperator<RelayMessage.Dial> falsify, Tamper tamper)
            throws IOException {
        CertifiedPeerVerifier agents = CertifiedPeerVerifier.forRoles(
                fixture.trustStore, Set.of(CertificateRole.HOST, CertificateRole.DEVICE));
        this.lists = List.of(TestSite.list(fixture.site.authority, 1), TestSite.list(fixture.site.a.authority, 1));
        this.falsify = falsify;
        this.tamper = tamper;
        this.listener = new ServerBootstrap()
                .group(fixture.loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new SslHandler(TlsProfile.LINK.server(stolen, agents)));
                        LinkCodec.server(channel.pipeline(), LinkStreams.MACHINE, new ChannelInitializer<>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline().addLast(new Stream());
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    boolean has(byte[] marker) {
        synchronized (recorded) {
            return recorded.toString(StandardCharsets.ISO_8859_1)
                    .contains(new String(marker, StandardCharsets.ISO_8859_1));
        }
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
    }

    private static void ok(Channel stream) {
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(
                new DefaultHttp2Headers().status("200").set(StreamRequest.VERSION, "1"), false));
    }

    void send(RelayMessage message) {
        ByteBuf frame = MessageFraming.frame(message.wire());
        attached.writeAndFlush(new DefaultHttp2DataFrame(frame));
    }

    private final class Stream extends ChannelInboundHandlerAdapter {
        private Channel other;
        private boolean fromOpener;
        private int pieces;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            if (message instanceof Http2HeadersFrame headers
                    && headers.headers().path() != null) {
                onRequest(ctx.channel(), StreamRequest.parse(headers.headers()));
            } else if (message instanceof Http2DataFrame data) {
                byte[] piece = ByteBufUtil.getBytes(data.content());
                synchronized (recorded) {
                    recorded.writeBytes(piece);
                }
                if (other != null) {
                    pass(ctx, piece, data.isEndStream());
                }
                data.release();
            } else {
                ReferenceCountUtil.release(message);
            }
        }

        /** It gains nothing by hiding that one end has gone, but time. */
        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (other != null) {
                other.close();
            }
        }

        private void pass(ChannelHandlerContext ctx, byte[] piece, boolean last) {
            List<byte[]> passed = piece.length == 0 ? new ArrayList<>() : tamper.pass(fromOpener, pieces++, piece);
            if (passed == null) {
                other.writeAndFlush(new DefaultHttp2DataFrame(true));
                ctx.close();
                return;
            }
            for (byte[] each : passed) {
                other.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(each)));
            }
            if (last) {
                other.writeAndFlush(new DefaultHttp2DataFrame(true));
            }
        }

        private void onRequest(Channel stream, StreamRequest request) {
            if (request instanceof StreamRequest.Attach) {
                attached = stream;
                ok(stream);
                send(new RelayMessage.Attached("hostile", ReconnectDelay.DEFAULT, lists.size()));
                lists.forEach(list -> send(new RelayMessage.Revocations(ByteString.copyFrom(list))));
            } else if (request instanceof StreamRequest.Circuit circuit) {
                opener = stream;
                DialBackToken token = DialBackToken.random(new SecureRandom());
                send(falsify.apply(new RelayMessage.Dial(token, circuit.from(), circuit.to(), circuit.policy())));
            } else {
                Stream theirs = opener.pipeline().get(Stream.class);
                theirs.other = stream;
                theirs.fromOpener = true;
                other = opener;
                ok(opener);
                ok(stream);
            }
        }
    }
}
