package org.cloister.relay;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.LinkCodec;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.TlsProfile;
import org.cloister.protocol.link.Trust;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where connections come in: counts them, asks who they are, and lets them have streams. */
@SuppressWarnings("FutureReturnValueIgnored") // ends of connections come as their own events
final class LinkDoor {
    private static final Logger LOG = LoggerFactory.getLogger(LinkDoor.class);

    private final Relay relay;
    private final Supplier<Credential> own;
    private final Trust trust;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger entering = new AtomicInteger();

    LinkDoor(Relay relay, Supplier<Credential> own, Trust trust) {
        this.relay = relay;
        this.own = own;
        this.trust = trust;
    }

    void enter(Channel channel) {
        boolean room = connections.incrementAndGet() <= relay.limits().links();
        boolean calm = entering.incrementAndGet() <= relay.limits().handshakes();
        Entry entry = new Entry();
        channel.closeFuture().addListener(closed -> {
            connections.decrementAndGet();
            entry.leave();
        });
        if (!room || !calm) {
            relay.metrics().linksRefused.inc();
            channel.close();
            return;
        }
        relay.metrics().linksAccepted.inc();
        Caller caller = new Caller();
        SslHandler tls = new SslHandler(TlsProfile.LINK.server(own.get(), caller));
        tls.setHandshakeTimeoutMillis(LinkLimits.TLS_HANDSHAKE.toMillis());
        channel.pipeline().addLast(tls, entry.handler(caller));
    }

    /** Remembers who the handshake found. */
    private final class Caller implements Trust {
        private volatile @Nullable Name name;
        private volatile @Nullable X509Certificate certificate;

        @Override
        public Name verify(List<X509Certificate> chain) throws java.security.cert.CertificateException {
            Name found = trust.verify(chain);
            certificate = chain.get(0);
            name = found;
            return found;
        }
    }

    /** Counts a connection among those that enter, until its first request. */
    private final class Entry {
        private boolean left;

        synchronized void leave() {
            if (!left) {
                left = true;
                entering.decrementAndGet();
            }
        }

        ChannelInboundHandlerAdapter handler(Caller caller) {
            return new Greeting(this, caller);
        }
    }

    private final class Greeting extends ChannelInboundHandlerAdapter {
        private final Entry entry;
        private final Caller caller;

        Greeting(Entry entry, Caller caller) {
            this.entry = entry;
            this.caller = caller;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
                ctx.fireUserEventTriggered(event);
                return;
            }
            Name peer = caller.name;
            X509Certificate certificate = caller.certificate;
            SslHandler tls = ctx.pipeline().get(SslHandler.class);
            if (!handshake.isSuccess()
                    || peer == null
                    || certificate == null
                    || !"h2".equals(tls.engine().getApplicationProtocol())) {
                relay.metrics().handshakesFailed.inc();
                LOG.info(
                        "handshake failed from={} reason=\"{}\"",
                        ctx.channel().remoteAddress(),
                        handshake.isSuccess() ? "no h2" : Relay.reason(handshake.cause()));
                ctx.close();
                return;
            }
            welcome(ctx, new RelayLink(ctx.channel(), peer, certificate, Instant.now()));
        }

        private void welcome(ChannelHandlerContext ctx, RelayLink link) {
            Channel channel = ctx.channel();
            relay.registry().add(link);
            channel.closeFuture().addListener(closed -> {
                relay.registry().remove(link);
                relay.exchange().gone(link);
                LOG.info("link closed peer={}", link.peer);
            });
            LinkCodec.server(ctx.pipeline(), new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel stream) {
                    entry.leave();
                    stream.pipeline().addLast(new StreamEntry(link, relay));
                }
            });
            ctx.pipeline().addLast(new Rest(link));
            ctx.pipeline().remove(this);
            channel.eventLoop()
                    .schedule(
                            () -> {
                                if (!link.hasRequested()) {
                                    channel.close();
                                }
                            },
                            LinkLimits.FIRST_REQUEST.toMillis(),
                            TimeUnit.MILLISECONDS);
            long holds = Duration.between(
                            link.since, link.certificate.getNotAfter().toInstant())
                    .toMillis();
            channel.eventLoop().schedule(() -> channel.close(), holds, TimeUnit.MILLISECONDS);
            // A list may have come between the handshake and here.
            if (relay.revocations().isRevoked(link.certificate)) {
                channel.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** What HTTP/2 leaves over. */
    private final class Rest extends ChannelInboundHandlerAdapter {
        private final RelayLink link;

        Rest(RelayLink link) {
            this.link = link;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            relay.metrics().protocolErrors.inc();
            LOG.warn("link ended peer={} reason=\"{}\"", link.peer, Relay.reason(cause));
            ctx.close();
        }
    }
}
