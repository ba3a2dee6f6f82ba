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
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.fairness.TokenBucket;
import org.cloister.relay.tickets.TicketStreamAcceptor;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections: counts them, authenticates their peers and lets them open streams. A connection counts as
 * pending until its first request.
 */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class LinkAcceptor {
    private static final Logger LOG = LoggerFactory.getLogger(LinkAcceptor.class);

    private static final int LOG_LINES_PER_S = 5;

    private final LinkAdmission admission;
    private final LinkRequestReader.Acceptors acceptors;
    private final Supplier<TlsCredential> credential;
    private final TrustStore trustStore;
    private final RelayLimits limits;
    private final RelayMetrics metrics;
    private final AtomicInteger connections = new AtomicInteger();
    private final PendingConnections pending;
    /** Limits log lines about unauthenticated peers, who may connect at any rate; the metrics count all of them. */
    private final TokenBucket logRate = new TokenBucket(LOG_LINES_PER_S, 2L * LOG_LINES_PER_S, System.nanoTime());

    /** @param credential the relay's certificates, which are renewed, and their key */
    public LinkAcceptor(
            LinkAdmission admission,
            CircuitBroker circuits,
            TicketStreamAcceptor tickets,
            AttachMessageHandler attach,
            Supplier<TlsCredential> credential,
            TrustStore trustStore,
            RelayLimits limits,
            RelayMetrics metrics) {
        this.admission = admission;
        this.acceptors = new LinkRequestReader.Acceptors(circuits, tickets, attach);
        this.credential = credential;
        this.trustStore = trustStore;
        this.limits = limits;
        this.metrics = metrics;
        this.pending = new PendingConnections(limits.handshakes());
    }

    void accept(Channel channel) {
        boolean belowLimit = connections.incrementAndGet() <= limits.links();
        channel.closeFuture().addListener(closed -> connections.decrementAndGet());
        Optional<PendingConnections.Entry> admitted =
                belowLimit && channel.remoteAddress() instanceof InetSocketAddress from
                        ? pending.admit(from.getAddress(), System.nanoTime(), () -> displace(channel))
                        : Optional.empty();
        if (admitted.isEmpty()) {
            metrics.linksRefused.inc();
            channel.close();
            return;
        }
        PendingConnections.Entry entry = admitted.get();
        channel.closeFuture().addListener(closed -> entry.release());
        metrics.linksAccepted.inc();
        AgentHandshakePeer peer = new AgentHandshakePeer(trustStore);
        SslHandler tls = new SslHandler(TlsProfile.LINK.server(credential.get(), peer));
        tls.setHandshakeTimeoutMillis(ProtocolLimits.TLS_HANDSHAKE.toMillis());
        channel.pipeline().addLast(tls, new HandshakeHandler(entry, peer));
    }

    private void displace(Channel channel) {
        metrics.linksDisplaced.inc();
        channel.close();
    }

    private boolean mayLog() {
        synchronized (logRate) {
            return logRate.tryAcquire(1, System.nanoTime());
        }
    }

    /** Describes an exception for a log line; the text never contains what a peer sent. */
    public static String reason(Throwable cause) {
        Throwable inner = cause.getCause() == null ? cause : cause.getCause();
        return inner.getClass().getSimpleName() + ": " + inner.getMessage();
    }

    private final class HandshakeHandler extends ChannelInboundHandlerAdapter {
        private final PendingConnections.Entry entry;
        private final AgentHandshakePeer peer;

        HandshakeHandler(PendingConnections.Entry entry, AgentHandshakePeer peer) {
            this.entry = entry;
            this.peer = peer;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (!(event instanceof SslHandshakeCompletionEvent handshake)) {
                ctx.fireUserEventTriggered(event);
                return;
            }
            Optional<CertifiedIdentity> identity = peer.found();
            SslHandler tls = ctx.pipeline().get(SslHandler.class);
            if (!handshake.isSuccess()
                    || identity.isEmpty()
                    || !"h2".equals(tls.engine().getApplicationProtocol())) {
                metrics.handshakesFailed.inc();
                if (mayLog()) {
                    LOG.info(
                            "handshake failed from={} reason=\"{}\"",
                            ctx.channel().remoteAddress(),
                            handshake.isSuccess()
                                    ? "the peer did not choose HTTP/2 (ALPN h2)"
                                    : reason(handshake.cause()));
                }
                ctx.close();
                return;
            }
            try {
                admit(
                        ctx,
                        new RelayLink(ctx.channel(), identity.get(), chain(tls), Instant.now(), peer.isForRenewal()));
            } catch (SSLPeerUnverifiedException | CertificateEncodingException e) {
                throw new IllegalStateException("an authenticated peer has no certificate chain", e);
            }
        }

        private static List<ByteString> chain(SslHandler tls)
                throws SSLPeerUnverifiedException, CertificateEncodingException {
            List<ByteString> chain = new ArrayList<>();
            for (Certificate each : tls.engine().getSession().getPeerCertificates()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
            return chain;
        }

        private void admit(ChannelHandlerContext ctx, RelayLink link) {
            Channel channel = ctx.channel();
            if (!isAdmitted(link)) {
                metrics.linksRefused.inc();
                channel.close();
                return;
            }
            LinkCodec.server(ctx.pipeline(), link.limits, new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel stream) {
                    entry.release();
                    stream.pipeline().addLast(new LinkRequestReader(link, acceptors, metrics));
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

        private boolean isAdmitted(RelayLink link) {
            boolean admitted = link.isForRenewal() ? admission.admitForRenewal(link) : admission.admit(link);
            if (admitted && link.isForRenewal()) {
                metrics.linksForRenewal.inc();
            } else if (!admitted) {
                LOG.warn(
                        "link refused peer={} reason=\"{}\"",
                        link.peer,
                        link.isForRenewal()
                                ? "it may only ask for a certificate, and it or too many others do so at this time"
                                : "the project has as many links as the site approved");
            }
            return admitted;
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
            metrics.protocolErrors.inc();
            LOG.warn("closing link peer={} reason=\"{}\"", link.peer, reason(cause));
            ctx.close();
        }
    }
}
