package org.cloister.relay.links;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Error;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.RelayLimits;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.fairness.ProjectConnectionLimits;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayRecords;
import org.cloister.relay.tickets.TicketLifecycle;
import org.cloister.relay.tickets.TicketLifecycleSettings;
import org.cloister.relay.tickets.TicketMetrics;
import org.cloister.relay.tickets.TicketStreamAcceptor;
import org.cloister.relay.tickets.TicketStreamLimits;
import org.cloister.relay.tickets.TicketTimeouts;
import org.cloister.transport.link.PeriodicCheck;
import org.cloister.transport.tls.TlsCredential;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves links, attach streams, circuits and ticket streams on one listening socket. */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class RelayServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RelayServer.class);
    private static final int BACKLOG = 4096;
    /** Rate at which agents may return after a disconnection: each attached agent adds 2 ms to the spread of delays. */
    private static final int RETURNS_PER_S = 500;

    private static final Duration LEAST_SPREAD = Duration.ofMillis(500);

    private final CertificateName name;
    private final RelayLimits limits;
    private final RelayMetrics metrics;
    private final DeliveredDocuments deliveries;
    private final LinkRegistry registry = new LinkRegistry();
    private final RevocableSessions<RelayLink> open = new RevocableSessions<>();
    private final ProjectConnectionLimits shares;
    private final CircuitBroker exchange;
    private final RenewalForwarder renewals = new RenewalForwarder(this);
    private final TicketLifecycle office;
    private final TicketStreamAcceptor tickets;
    private final TicketStreamLimits parties;
    private final RevocationListFrames lists = new RevocationListFrames();
    private final InstantSource clock;
    private final Optional<SlurmAccess> slurm;
    private final Channel listener;
    private final PeriodicCheck looking;
    private final AtomicInteger most = new AtomicInteger();
    private volatile boolean draining;

    /**
     * Settings of a relay.
     *
     * @param slurm empty for a relay that accepts no tickets
     */
    public record Settings(
            CertificateName name,
            InetSocketAddress listen,
            Supplier<TlsCredential> credential,
            RelayLimits limits,
            Optional<SlurmAccess> slurm,
            TicketTimeouts times) {}

    /** Global Slurm of the site and the user as whom the relay submits jobs. */
    public record SlurmAccess(GlobalSlurm slurm, String user) {}

    private RelayServer(
            Settings terms,
            DeliveredDocuments deliveries,
            RelayRecords records,
            RelayMetrics metrics,
            EventLoopGroup loops)
            throws IOException {
        this.name = terms.name;
        this.limits = terms.limits;
        this.metrics = metrics;
        this.clock = records.clock();
        this.slurm = terms.slurm;
        this.deliveries = deliveries;
        this.shares = new ProjectConnectionLimits(limits, deliveries::approval);
        this.exchange = new CircuitBroker(registry, shares, limits, metrics);
        metrics.gauge("links", () -> registry.links().size());
        metrics.gauge("links.attached", registry::attached);
        metrics.gauge("circuits", exchange::openCircuits);
        metrics.gauge("projects", deliveries::projects);
        TicketMetrics counts = new TicketMetrics(metrics.registry(), RelayMetrics.PREFIX);
        this.parties = new TicketStreamLimits(counts);
        this.office = new TicketLifecycle(
                new TicketLifecycleSettings(
                        terms.name, records.key(), terms.credential, terms.times, records.auditSpace()),
                new PeerDirectory(deliveries, registry),
                records.state(),
                records.log(),
                terms.slurm.map(SlurmAccess::slurm),
                records.clock(),
                counts);
        this.tickets = new TicketStreamAcceptor(office, deliveries.trustStore(), terms.name, parties);
        registerTicketGauges(metrics, office, parties, records);
        office.record(AuditEvent.of(records.clock().instant(), "relay.started"));
        LinkAcceptor door =
                new LinkAcceptor(this, terms.credential, CertifiedPeerVerifier.forAgents(deliveries.trustStore()));
        ChannelFuture bound = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        door.accept(channel);
                    }
                })
                .bind(terms.listen)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            office.close();
            parties.close();
            throw new IOException(
                    "listen " + terms.listen + ": " + bound.cause().getMessage()
                            + "; ss -ltnp says which process has a port",
                    bound.cause());
        }
        this.listener = bound.channel();
        this.looking = new PeriodicCheck(loops.next(), this::lookAndTell);
    }

    private static void registerTicketGauges(
            RelayMetrics metrics, TicketLifecycle office, TicketStreamLimits parties, RelayRecords records) {
        metrics.gauge("ticket.checks.waiting", parties::waiting);
        metrics.gauge("ticket.unwritten.bytes", parties::unwrittenBytes);
        metrics.gauge("tickets", office::open);
        metrics.gauge("records.waiting", office::waiting);
        metrics.gauge("slurm.silence.seconds", office::secondsSinceSlurmAnswer);
        metrics.gauge("audit.writable", () -> office.isAuditWritable() ? 1 : 0);
        metrics.gauge("audit.exhausted.projects", office::exhaustedProjects);
        metrics.gauge("state.free.bytes", () -> records.auditSpace().freeBytes().getAsLong());
    }

    /** Starts the relay; it listens when the method returns. */
    public static RelayServer serve(
            Settings terms,
            DeliveredDocuments deliveries,
            RelayRecords records,
            RelayMetrics metrics,
            EventLoopGroup loops)
            throws IOException {
        return new RelayServer(terms, deliveries, records, metrics, loops);
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    public boolean isReady() {
        return listener.isActive() && !draining;
    }

    void onAttached(RelayLink link) {
        most.accumulateAndGet(registry.attached(), Math::max);
        List<RevocationList> lists = new ArrayList<>(deliveries.revocationListsFor(CertificateName.SITE));
        if (link.isDevice()) {
            lists.addAll(deliveries.revocationListsFor(link.peer.project()));
        }
        send(link, new RelayMessage.Attached(name.toString(), pace(), lists.size(), office.head()));
        lists.forEach(list -> sendRevocations(link, list));
        renewals.onAuthorityAttached(link);
        if (draining) {
            send(link, new RelayMessage.Drain(pace()));
        }
    }

    /** Returns the reconnection delay, spread by the largest number of agents attached so far. */
    ReconnectDelay pace() {
        long spread = Math.max(LEAST_SPREAD.toMillis(), most.get() * 1000L / RETURNS_PER_S);
        return new ReconnectDelay(
                Duration.ofMillis(500), Duration.ofMillis(Math.min(spread, ReconnectDelay.LONGEST.toMillis())));
    }

    void send(RelayLink link, RelayMessage message) {
        if (!link.send(message)) {
            letGo(link);
        }
    }

    private void letGo(RelayLink link) {
        metrics.agentsLetGo.inc();
        LOG.warn("let go peer={} reason=\"does not read its attach stream\"", link.peer);
        link.close();
    }

    /** Sends the revocation lists that the peers of this project's parties need. */
    void sendRevocations(RelayLink link, String scope) {
        deliveries.revocationListsFor(scope).forEach(list -> sendRevocations(link, list));
    }

    private void sendRevocations(RelayLink link, RevocationList list) {
        if (!link.sendRevocationList(
                list, lists.framed(list, deliveries.trustStore().lists().all()))) {
            letGo(link);
        }
    }

    /**
     * Stores a project's document, an approval or a revocation list: first on disk, then in force on every link, then
     * sent to the agents it concerns.
     *
     * @return a description of what was delivered
     * @throws IOException if it is not a valid document, is older than the stored one, or cannot be stored
     */
    public String deliver(byte[] delivered) throws IOException {
        Set<RevocationList> before = Set.copyOf(deliveries.trustStore().lists().all());
        DeliveredDocuments.Stored taken = deliveries.store(delivered);
        metrics.deliveriesTaken.inc();
        LOG.info("taken {}", taken.text());
        office.record(taken.event());
        look();
        for (RelayLink link : registry.links()) {
            if (link.isAttached()) {
                for (RevocationList list : deliveries.trustStore().lists().all()) {
                    if (!before.contains(list) && deliveries.concerns(list, link::concerns)) {
                        sendRevocations(link, list);
                    }
                }
            }
        }
        return taken.text();
    }

    private void lookAndTell() {
        try {
            look();
        } catch (RuntimeException e) {
            LOG.error("look failed; the next one is in a second", e);
        }
    }

    /** Closes the links of peers that are no longer trusted, and the circuits over them. */
    private void look() {
        deliveries.refreshApprovals();
        office.runPeriodicChecks();
        for (RevocableSessions.RevokedSession<RelayLink> each :
                deliveries.trustStore().removeRevoked(open)) {
            RelayLink link = each.what();
            LOG.info(
                    "link ended peer={} reason=\"{}\"",
                    link.peer,
                    each.refusal().getMessage());
            exchange.closeCircuits(link, CloseReason.REVOKED);
            link.connection().eventLoop().execute(link::close);
        }
    }

    /**
     * Registers a link.
     *
     * @return false if the project has as many links as it may have
     */
    boolean admit(RelayLink link) {
        if (link.isDevice()) {
            Optional<ProjectConnectionLimits.Reservation> place =
                    shares.acquireLink(link.peer.project(), System.nanoTime());
            if (place.isEmpty()) {
                return false;
            }
            link.connection().closeFuture().addListener(closed -> place.get().close());
        }
        registry.add(link);
        if (link.isAuthority()) {
            // This link delivers the revocation list by which it would be checked, so only its certificate's expiry
            // closes it.
            Duration holds = Duration.between(Instant.now(), link.identity.notAfter());
            link.connection().eventLoop().schedule(link::close, holds.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            open.add(link, link.identity);
        }
        link.connection().closeFuture().addListener(closed -> {
            registry.remove(link);
            open.remove(link);
            exchange.onLinkClosed(link);
            LOG.info("link closed peer={}", link.peer);
        });
        return true;
    }

    /**
     * Stops accepting work, notifies the agents and waits for open circuits. Returns when they have ended or the drain
     * time is over.
     */
    public void drain() throws InterruptedException {
        draining = true;
        exchange.drain();
        listener.close();
        ReconnectDelay pace = pace();
        LOG.info("draining links={} circuits={}", registry.links().size(), exchange.openCircuits());
        for (RelayLink link : registry.links()) {
            link.send(new RelayMessage.Drain(pace));
            link.connection().writeAndFlush(new DefaultHttp2GoAwayFrame(Http2Error.NO_ERROR));
        }
        long endNs = System.nanoTime() + limits.drain().toNanos();
        while (exchange.openCircuits() > 0 && System.nanoTime() - endNs < 0) {
            Thread.sleep(20);
        }
        exchange.closeAllCircuits(CloseReason.DRAINING);
    }

    @Override
    public void close() {
        looking.close();
        listener.close().syncUninterruptibly();
        registry.links().forEach(link -> link.close().syncUninterruptibly());
        office.recordLast(AuditEvent.of(clock.instant(), "relay.stopped"));
        office.close();
        parties.close();
    }

    public CertificateName name() {
        return name;
    }

    public LinkRegistry registry() {
        return registry;
    }

    public CircuitBroker circuitBroker() {
        return exchange;
    }

    public RenewalForwarder renewals() {
        return renewals;
    }

    public TicketLifecycle ticketLifecycle() {
        return office;
    }

    public Optional<SlurmAccess> slurm() {
        return slurm;
    }

    TicketStreamAcceptor ticketStreams() {
        return tickets;
    }

    public RelayMetrics metrics() {
        return metrics;
    }

    RelayLimits limits() {
        return limits;
    }

    public DeliveredDocuments documents() {
        return deliveries;
    }

    /** Describes an exception for a log line; the text never contains what a peer sent. */
    public static String reason(Throwable cause) {
        Throwable inner = cause.getCause() == null ? cause : cause.getCause();
        return inner.getClass().getSimpleName() + ": " + inner.getMessage();
    }
}
