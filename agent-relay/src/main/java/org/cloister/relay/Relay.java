package org.cloister.relay;

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
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.OpenIdentities;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Looking;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.ticket.OfficeMetrics;
import org.cloister.relay.ticket.OfficeTerms;
import org.cloister.relay.ticket.Shares;
import org.cloister.relay.ticket.TicketDoor;
import org.cloister.relay.ticket.TicketOffice;
import org.cloister.relay.ticket.TicketTimes;
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
    private final Deliveries deliveries;
    private final Registry registry = new Registry();
    private final OpenIdentities<RelayLink> open = new OpenIdentities<>();
    private final ProjectShares shares;
    private final Exchange exchange;
    private final Renewals renewals = new Renewals(this);
    private final TicketOffice office;
    private final TicketDoor tickets;
    private final Shares parties;
    private final SharedLists lists = new SharedLists();
    private final InstantSource clock;
    private final Optional<Slurm> slurm;
    private final Channel listener;
    private final Looking looking;
    private final AtomicInteger most = new AtomicInteger();
    private volatile boolean draining;

    /**
     * What a relay is.
     *
     * @param slurm empty for one that takes no tickets
     */
    record Terms(
            Name name,
            InetSocketAddress listen,
            Supplier<Credential> own,
            RelayLimits limits,
            Optional<Slurm> slurm,
            TicketTimes times) {}

    /** The site's, and as whom and where jobs go there. */
    record Slurm(GlobalSlurm slurm, String user) {}

    private Relay(Terms terms, Deliveries deliveries, Records records, RelayMetrics metrics, EventLoopGroup loops)
            throws IOException {
        this.name = terms.name;
        this.limits = terms.limits;
        this.metrics = metrics;
        this.clock = records.clock();
        this.slurm = terms.slurm;
        this.deliveries = deliveries;
        this.shares = new ProjectShares(limits, deliveries::approval);
        this.exchange = new Exchange(registry, shares, limits, metrics);
        metrics.gauge("links", () -> registry.links().size());
        metrics.gauge("links.attached", registry::attached);
        metrics.gauge("circuits", exchange::openCircuits);
        metrics.gauge("projects", deliveries::projects);
        OfficeMetrics counts = new OfficeMetrics(metrics.registry(), RelayMetrics.PREFIX);
        this.parties = new Shares(counts);
        this.office = new TicketOffice(
                new OfficeTerms(terms.name, records.key(), terms.own, terms.times, records.room()),
                new Neighbourhood(deliveries, registry),
                records.state(),
                records.log(),
                terms.slurm.map(Slurm::slurm),
                records.clock(),
                counts);
        this.tickets = new TicketDoor(office, deliveries.beliefs(), terms.name, parties);
        metrics.gauge("ticket.checks.waiting", parties::waiting);
        metrics.gauge("ticket.unwritten.bytes", parties::unwrittenBytes);
        metrics.gauge("tickets", office::open);
        metrics.gauge("records.waiting", office::waiting);
        metrics.gauge("slurm.silence.seconds", office::silence);
        metrics.gauge("audit.writable", () -> office.isAuditWritable() ? 1 : 0);
        metrics.gauge("audit.exhausted.projects", office::exhaustedProjects);
        metrics.gauge("state.free.bytes", () -> records.room().freeBytes().getAsLong());
        office.record(AuditEvent.of(records.clock().instant(), "relay.started"));
        LinkDoor door = new LinkDoor(this, terms.own, Trust.inAgents(deliveries.beliefs()));
        ChannelFuture bound = new ServerBootstrap()
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
        this.looking = new Looking(loops.next(), this::lookAndTell);
    }

    /** Listens when it returns. */
    static Relay serve(Terms terms, Deliveries deliveries, Records records, RelayMetrics metrics, EventLoopGroup loops)
            throws IOException {
        return new Relay(terms, deliveries, records, metrics, loops);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    boolean isReady() {
        return listener.isActive() && !draining;
    }

    void onAttached(RelayLink link) {
        most.accumulateAndGet(registry.attached(), Math::max);
        List<RevocationList> lists = new ArrayList<>(deliveries.listsOf(Name.SITE));
        if (link.isDevice()) {
            lists.addAll(deliveries.listsOf(link.peer.project()));
        }
        say(link, new RelayMessage.Attached(name.toString(), pace(), lists.size(), office.head()));
        lists.forEach(list -> sayRevocations(link, list));
        renewals.attached(link);
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
            letGo(link);
        }
    }

    private void letGo(RelayLink link) {
        metrics.agentsLetGo.inc();
        LOG.warn("let go peer={} reason=\"does not read its attach stream\"", link.peer);
        link.close();
    }

    /** What the peers of this project's parties must not believe any more. */
    void sayRevocations(RelayLink link, String scope) {
        deliveries.listsOf(scope).forEach(list -> sayRevocations(link, list));
    }

    private void sayRevocations(RelayLink link, RevocationList list) {
        if (!link.sayRevocations(
                list, lists.framed(list, deliveries.beliefs().lists().all()))) {
            letGo(link);
        }
    }

    /**
     * Takes a project's document, an approval or a revocation list: on disk, then on every link, then out to whom it concerns.
     *
     * @return what it was
     * @throws IOException it is none, or an old one, or cannot be kept
     */
    String deliver(byte[] delivered) throws IOException {
        Set<RevocationList> before = Set.copyOf(deliveries.beliefs().lists().all());
        Deliveries.Taken taken = deliveries.take(delivered);
        metrics.deliveriesTaken.inc();
        LOG.info("taken {}", taken.text());
        office.record(taken.event());
        look();
        for (RelayLink link : registry.links()) {
            if (link.isAttached()) {
                for (RevocationList list : deliveries.beliefs().lists().all()) {
                    if (!before.contains(list) && deliveries.concerns(list, link::concernedBy)) {
                        sayRevocations(link, list);
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

    /** Ends the links, and the circuits over them, of whom the relay believes no more. */
    private void look() {
        deliveries.look();
        office.look();
        for (OpenIdentities.Ended<RelayLink> each : deliveries.beliefs().end(open)) {
            RelayLink link = each.what();
            LOG.info(
                    "link ended peer={} reason=\"{}\"",
                    link.peer,
                    each.refusal().getMessage());
            exchange.end(link, CloseReason.REVOKED);
            link.connection().eventLoop().execute(link::close);
        }
    }

    /** @return false if the project has as many links as it may have */
    boolean admit(RelayLink link) {
        if (link.isDevice()) {
            Optional<ProjectShares.Place> place = shares.takeLink(link.peer.project(), System.nanoTime());
            if (place.isEmpty()) {
                return false;
            }
            link.connection().closeFuture().addListener(closed -> place.get().close());
        }
        registry.add(link);
        if (link.isDesk()) {
            // It brings the list that would have to be asked.
            Duration holds = Duration.between(Instant.now(), link.identity.until());
            link.connection().eventLoop().schedule(link::close, holds.toMillis(), TimeUnit.MILLISECONDS);
        } else {
            open.opened(link, link.identity);
        }
        link.connection().closeFuture().addListener(closed -> {
            registry.remove(link);
            open.closed(link);
            exchange.gone(link);
            LOG.info("link closed peer={}", link.peer);
        });
        return true;
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
        looking.close();
        listener.close().syncUninterruptibly();
        registry.links().forEach(link -> link.close().syncUninterruptibly());
        office.recordLast(AuditEvent.of(clock.instant(), "relay.stopped"));
        office.close();
        parties.close();
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

    TicketOffice office() {
        return office;
    }

    Optional<Slurm> slurm() {
        return slurm;
    }

    TicketDoor tickets() {
        return tickets;
    }

    RelayMetrics metrics() {
        return metrics;
    }

    RelayLimits limits() {
        return limits;
    }

    Deliveries deliveries() {
        return deliveries;
    }

    /** What went wrong, for a log line: never what a peer sent. */
    static String reason(Throwable cause) {
        Throwable inner = cause.getCause() == null ? cause : cause.getCause();
        return inner.getClass().getSimpleName() + ": " + inner.getMessage();
    }
}
