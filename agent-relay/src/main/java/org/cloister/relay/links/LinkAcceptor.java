package org.cloister.relay.links;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.fairness.TokenBucket;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkHandshakePeer;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections: counts them, authenticates their peers and lets them open streams. A connection counts as
 * pending until its first request.
 */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
final class LinkAcceptor {
    private static final Logger LOG = LoggerFactory.getLogger(LinkAcceptor.class);

    private static final int LINES_PER_S = 5;

    private final RelayServer relay;
    private final Supplier<TlsCredential> own;
    private final CertifiedPeerVerifier trust;
    private final AtomicInteger connections = new AtomicInteger();
    private final PendingConnections arrivals;
    /** Limits log lines about unauthenticated peers, who may connect at any rate; the metrics count all of them. */
    private final TokenBucket lines = new TokenBucket(LINES_PER_S, 2L * LINES_PER_S, System.nanoTime());

    LinkAcceptor(RelayServer relay, Supplier<TlsCredential> own, CertifiedPeerVerifier trust) {
        this.relay = relay;
        this.own = own;
        this.trust = trust;
        this.arrivals = new PendingConnections(relay.limits().handshakes());
    }

    void accept(Channel channel) {
        boolean room = connections.incrementAndGet() <= relay.limits().links();
        channel.closeFuture().addListener(closed -> connections.decrementAndGet());
        Optional<PendingConnections.Entry> taken = room && channel.remoteAddress() instanceof InetSocketAddress from
                ? arrivals.admit(from.getAddress(), System.nanoTime(), () -> displace(channel))
                : Optional.empty();
        if (taken.isEmpty()) {
            relay.metrics().linksRefused.inc();
            channel.close();
            return;
        }
        PendingConnections.Entry entry = taken.get();
        channel.closeFuture().addListener(closed -> entry.release());
        relay.metrics().linksAccepted.inc();
        LinkHandshakePeer caller = new LinkHandshakePeer(trust);
        SslHandler tls = new SslHandler(TlsProfile.LINK.server(own.get(), caller));
        tls.setHandshakeTimeoutMillis(ProtocolLimits.TLS_HANDSHAKE.toMillis());
        channel.pipeline().addLast(tls, new HandshakeHandler(entry, caller));
    }

    private void displace(Channel channel) {
        relay.metrics().linksDisplaced.inc();
        channel.close();
    }

    private boolean mayLog() {
        synchronized (lines) {
            return lines.tryAcquire(1, System.nanoTime());
        }
    }

    private final class HandshakeHandler extends ChannelInboundHandlerAdapter {
        private final PendingConnections.Entry entry;
        private final LinkHandshakePeer caller;

        HandshakeHandler(PendingConnections.Entry entry, LinkHandshakePeer caller) {
            this.entry = entry;
            this.caller = caller;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
                ctx.fireUserEventTriggered(event);
                return;
            }
            Optional<CertifiedIdentity> peer = caller.found();
            SslHandler tls = ctx.pipeline().get(SslHandler.class);
            if (!handshake.isSuccess()
                    || peer.isEmpty()
                    || !"h2".equals(tls.engine().getApplicationProtocol())) {
                relay.metrics().handshakesFailed.inc();
                if (mayLog()) {
                    LOG.info(
                            "handshake failed from={} reason=\"{}\"",
                            ctx.channel().remoteAddress(),
                            handshake.isSuccess() ? "no h2" : RelayServer.reason(handshake.cause()));
                }
                ctx.close();
                return;
            }
            try {
                welcome(ctx, new RelayLink(ctx.channel(), peer.get(), shown(tls), Instant.now()));
            } catch (SSLPeerUnverifiedException | CertificateEncodingException e) {
                throw new IllegalStateException("a peer was found in a chain that is not there", e);
            }
        }

        private static List<ByteString> shown(SslHandler tls)
                throws SSLPeerUnverifiedException, CertificateEncodingException {
            List<ByteString> chain = new ArrayList<>();
            for (Certificate each : tls.engine().getSession().getPeerCertificates()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
            return chain;
        }

        private void welcome(ChannelHandlerContext ctx, RelayLink link) {
            Channel channel = ctx.channel();
            if (!relay.admit(link)) {
                relay.metrics().linksRefused.inc();
                LOG.warn("link refused peer={} reason=\"the project has all links that the site approved\"", link.peer);
                channel.close();
                return;
            }
            LinkCodec.server(ctx.pipeline(), new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel stream) {
                    entry.release();
                    stream.pipeline().addLast(new LinkRequestReader(link, relay));
                }
            });
            ctx.pipeline().addLast(new ConnectionFrames(link));
            ctx.pipeline().remove(this);
            channel.eventLoop()
                    .schedule(
                            () -> {
                                if (!link.hasRequested()) {
                                    channel.close();
                                }
                            },
                            ProtocolLimits.FIRST_REQUEST.toMillis(),
                            TimeUnit.MILLISECONDS);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    /** Discards the frames that the HTTP/2 codec passes on and closes the connection on an error. */
    private final class ConnectionFrames extends ChannelInboundHandlerAdapter {
        private final RelayLink link;

        ConnectionFrames(RelayLink link) {
            this.link = link;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            relay.metrics().protocolErrors.inc();
            LOG.warn("link ended peer={} reason=\"{}\"", link.peer, RelayServer.reason(cause));
            ctx.close();
        }
    }
}
