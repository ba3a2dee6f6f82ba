package org.cloister.host.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2PingFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A VM that does ill is cut for it, comes back as soon as it behaves, and another VM's session notices nothing. */
@Timeout(120)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway.Init"}) // what fails shows as a session that goes on
class HostileVmTest {
    private static final int MANY = 2 * ProtocolLimits.VM_MESSAGES;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(3, NioIoHandler.newFactory());

    @TempDir
    private Path folder;

    private HostChannelEnd host;
    private GuestChannelEnd hostile;
    private GuestChannelEnd other;

    @BeforeEach
    void start() throws Exception {
        Path statements = Files.createDirectory(folder.resolve("statements"));
        host = new HostChannelEnd(loops, HostChannelEnd.key(SignatureCurve.P256), statements, owner -> {});
        hostile = new GuestChannelEnd(loops, folder.resolve("hostile"));
        other = new GuestChannelEnd(loops, folder.resolve("other"));
        host.channels.open(HostChannelEnd.plan(1, hostile.socket()));
        host.channels.open(HostChannelEnd.plan(2, other.socket()));
        other.attach();
    }

    @AfterEach
    void stop() {
        host.close();
        hostile.close();
        other.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void isCutFor(Consumer<ClientLink> action) throws Exception {
        isCutFor(action, () -> {});
    }

    /** @param then what happens on the host's side */
    private void isCutFor(Consumer<ClientLink> action, Runnable then) throws Exception {
        ClientLink session = hostile.session();
        long cuts = host.metrics.cuts.getCount();
        session.loop().execute(() -> action.accept(session));
        then.run();
        long endNs = System.nanoTime() + Duration.ofSeconds(40).toNanos();
        while (host.metrics.cuts.getCount() == cuts) {
            assertThat(System.nanoTime() - endNs).as("time to be cut").isNegative();
            Thread.onSpinWait();
        }
        session.close();
        session.closeFuture().await();
        hostile.attach();
        assertThat(host.channels.countAttached()).isEqualTo(2);
        assertThat(other.losses).isEmpty();
    }

    private static void stream(ClientLink link, Consumer<Channel> action) {
        new Http2StreamChannelBootstrap(link.channel())
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {}
                })
                .open()
                .addListener(opened -> {
                    if (opened.isSuccess()) {
                        action.accept((Channel) opened.getNow());
                    }
                });
    }

    private static void ask(Channel stream, String path) {
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(
                new StreamRequest.Attach(ProtocolVersions.OURS).headers().path(path), false));
    }

    private static void attached(ClientLink link, Consumer<Channel> action) {
        link.open(new StreamRequest.Attach(ProtocolVersions.OURS), stream -> {
            stream.writeAndFlush(MessageFraming.frame(new AgentMessage.Attach("hostile").wire()));
            action.accept(stream);
        });
    }

    @Test
    void for_bytes_that_are_no_http2() throws Exception {
        byte[] garbage = new byte[1 << 20];
        new Random(1).nextBytes(garbage);
        isCutFor(link -> link.channel().pipeline().firstContext().writeAndFlush(Unpooled.wrappedBuffer(garbage)));
    }

    @Test
    void for_a_flood_of_pings() throws Exception {
        isCutFor(link -> {
            for (int i = 0; i < MANY; i++) {
                link.channel().write(new DefaultHttp2PingFrame(i));
            }
            link.channel().flush();
        });
    }

    @Test
    void for_a_flood_of_requests() throws Exception {
        isCutFor(link -> {
            for (int i = 0; i < ProtocolLimits.STREAMS / 2; i++) {
                request(link);
            }
        });
        assertThat(host.metrics.requestsRefused.getCount()).isPositive();
    }

    private static void request(ClientLink link) {
        if (link.channel().isActive()) {
            stream(link, stream -> {
                ask(stream, "/nothing");
                stream.closeFuture().addListener(closed -> request(link));
            });
        }
    }

    @Test
    void for_more_streams_than_a_session_has() throws Exception {
        isCutFor(link -> {
            // Below Netty's codec, which would keep to what the host allows; each stays open, for it says nothing more.
            ChannelHandlerContext raw = link.channel().pipeline().firstContext();
            DefaultHttp2FrameWriter writer = new DefaultHttp2FrameWriter();
            Http2Headers request = new StreamRequest.Evidence(ProtocolVersions.OURS).headers();
            for (int i = 0; i < MANY; i++) {
                writer.writeHeaders(raw, 2 * i + 3, request, 0, false, raw.newPromise());
            }
            raw.flush();
        });
    }

    @Test
    void for_a_flood_of_messages() throws Exception {
        isCutFor(link -> attached(link, stream -> {
            for (int i = 0; i < MANY; i++) {
                stream.writeAndFlush(
                        MessageFraming.frame(new AgentMessage.RevocationsKept(Digest.sha256(new byte[1])).wire()));
            }
        }));
    }

    @Test
    void for_messages_that_are_none() throws Exception {
        isCutFor(link ->
                attached(link, stream -> stream.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {-1, 0, 0, 0}))));
    }

    @Test
    void for_a_question_for_evidence_that_is_none() throws Exception {
        isCutFor(link -> link.open(
                new StreamRequest.Evidence(ProtocolVersions.OURS),
                stream -> stream.writeAndFlush(
                        new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 2, 'n', 'o'})))));
    }

    @Test
    void for_a_question_of_what_it_is_that_is_none() throws Exception {
        isCutFor(link -> link.open(
                new StreamRequest.Assignment(ProtocolVersions.OURS),
                stream -> stream.writeAndFlush(
                        new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(new byte[] {0, 0, 0, 2, 'n', 'o'})))));
    }

    @Test
    void for_never_reading_what_it_is_told() throws Exception {
        byte[] list = list();
        // More than the stream's window and the queue behind it hold.
        int lists = ProtocolLimits.STREAM_WINDOW_BYTES / list.length + ProtocolLimits.ATTACH_QUEUE + 100;
        isCutFor(link -> attached(link, stream -> stream.config().setAutoRead(false)), () -> {
            while (host.channels.countAttached() < 2) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < lists; i++) {
                host.forwarding.onRevocationList(list);
                // Who reads is told one after the other.
                other.lists.acquireUninterruptibly();
            }
        });
    }

    private static byte[] list() throws Exception {
        SigningKey key = HostChannelEnd.key(SignatureCurve.P256);
        CertificateAuthority site = CertificateAuthority.ofSite(
                SubjectPublicKey.of(key.verificationKey()),
                key::sign,
                Instant.now(),
                Duration.ofDays(9),
                new SecureRandom());
        return site.revoke(List.of(), BigInteger.ONE, Instant.now(), Duration.ofHours(24));
    }
}
