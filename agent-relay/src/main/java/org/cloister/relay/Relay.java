package org.cloister.relay;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Error;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The relay, serving: links, attach streams and circuits on one listening socket. */
@SuppressWarnings("FutureReturnValueIgnored") // ends of connections come as their own events
final class Relay implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Relay.class);
    private static final int BACKLOG = 4096;
    /** What one agent's return costs the relay: two of these a millisecond of spread. */
    private static final int RETURNS_PER_S = 500;

    private static final Duration LEAST_SPREAD = Duration.ofMillis(500);

    private final Name name;
    private final RelayLimits limits;
    private final RelayMetrics metrics;
    private final RevocationBoard revocations;
    private final Registry registry = new Registry();
    private final Exchange exchange;
    private final Renewals renewals = new Renewals(this);
    private final Channel listener;
    private final AtomicInteger most = new AtomicInteger();
    private volatile boolean draining;

    /** What a relay is and whom it serves. */
    record Terms(Name name, InetSocketAddress listen, Supplier<Credential> own, Trust trust, RelayLimits limits) {}

    private Relay(Terms terms, RevocationBoard revocations, RelayMetrics metrics, EventLoopGroup loops)
            throws IOException {
        this.name = terms.name;
        this.limits = terms.limits;
        this.metrics = metrics;
        this.revocations = revocations;
        this.exchange = new Exchange(registry, limits, metrics);
        metrics.gauge("links", () -> registry.links().size());
        metrics.gauge("links.attached", registry::attached);
        metrics.gauge("circuits", exchange::openCircuits);
        Trust trust = chain -> {
            Name peer = terms.trust.verify(chain);
            if (revocations.isRevoked(chain.get(0))) {
                throw new CertificateException("certificate of " + peer + ": revoked");
            }
            return peer;
        };
        LinkDoor door = new LinkDoor(this, terms.own, trust);
        try {
            this.listener = new ServerBootstrap()
                    .group(loops)
                    .channel(NioServerSocketChannel.class)
                    .option(ChannelOption.SO_BACKLOG, BACKLOG)
                    .option(ChannelOption.SO_REUSEADDR, true)
                    .childOption(ChannelOption.TCP_NODELAY, true)
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            door.enter(channel);
                        }
                    })
                    .bind(terms.listen)
                    .syncUninterruptibly()
                    .channel();
        } catch (RuntimeException e) {
            // Netty throws what bind failed with, unchecked.
            throw new IOException("listen " + terms.listen + ": " + e.getMessage(), e);
        }
    }

    /** Listens when it returns. */
    static Relay serve(Terms terms, RevocationBoard revocations, RelayMetrics metrics, EventLoopGroup loops)
            throws IOException {
        return new Relay(terms, revocations, metrics, loops);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    boolean isReady() {
        return listener.isActive() && !draining;
    }

    void onAttached(RelayLink link) {
        most.accumulateAndGet(registry.attached(), Math::max);
        say(link, new RelayMessage.Attached(name.toString(), pace()));
        renewals.attached(link);
        revocations.lists().forEach(list -> say(link, new RelayMessage.Revocations(list.number(), list.signed())));
        if (draining) {
            say(link, new RelayMessage.Drain(pace()));
        }
    }

    /** So many agents, so far apart. */
    Pace pace() {
        long spread = Math.max(LEAST_SPREAD.toMillis(), most.get() * 1000L / RETURNS_PER_S);
        return new Pace(Duration.ofMillis(500), Duration.ofMillis(Math.min(spread, Pace.LONGEST.toMillis())));
    }

    void say(RelayLink link, RelayMessage message) {
        if (!link.say(message)) {
            metrics.agentsLetGo.inc();
            LOG.warn("let go peer={} reason=\"does not read its attach stream\"", link.peer);
            link.close();
        }
    }

    /**
     * Puts a list in force: on disk, then on every link, then out to all that are attached.
     *
     * @throws IOException it is none, or an old one, or cannot be kept
     */
    RevocationList revoke(byte[] signed) throws IOException {
        RevocationList list = revocations.take(signed);
        metrics.revocationsTaken.inc();
        LOG.info("revocations taken issuer={} number={}", list.issuer(), list.number());
        for (RelayLink link : registry.links()) {
            if (list.revokes().test(link.certificate)) {
                LOG.info("link ended peer={} reason=revoked", link.peer);
                exchange.end(link, CloseReason.REVOKED);
                link.connection().eventLoop().execute(link::close);
            } else if (link.isAttached()) {
                say(link, new RelayMessage.Revocations(list.number(), list.signed()));
            }
        }
        return list;
    }

    /** Takes nothing new, tells the agents, and gives open circuits their time. Returns when they have ended or it is up. */
    void drain() throws InterruptedException {
        draining = true;
        exchange.drain();
        listener.close();
        Pace pace = pace();
        LOG.info("draining links={} circuits={}", registry.links().size(), exchange.openCircuits());
        for (RelayLink link : registry.links()) {
            link.say(new RelayMessage.Drain(pace));
            link.connection().writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
        }
        long endNs = System.nanoTime() + limits.drain().toNanos();
        while (exchange.openCircuits() > 0 && System.nanoTime() - endNs < 0) {
            Thread.sleep(20);
        }
        exchange.endAll(CloseReason.DRAINING);
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        registry.links().forEach(link -> link.close().syncUninterruptibly());
    }

    Name name() {
        return name;
    }

    Registry registry() {
        return registry;
    }

    Exchange exchange() {
        return exchange;
    }

    Renewals renewals() {
        return renewals;
    }

    RelayMetrics metrics() {
        return metrics;
    }

    RelayLimits limits() {
        return limits;
    }

    RevocationBoard revocations() {
        return revocations;
    }

    /** What went wrong, for a log line: never what a peer sent. */
    static String reason(Throwable cause) {
        Throwable inner = cause.getCause() == null ? cause : cause.getCause();
        return inner.getClass().getSimpleName() + ": " + inner.getMessage();
    }
}
