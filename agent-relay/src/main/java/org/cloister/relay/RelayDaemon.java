package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.relay.admin.RelayAdminApi;
import org.cloister.relay.admin.RelayStatus;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.circuits.CircuitMetrics;
import org.cloister.relay.fairness.ProjectConnectionLimits;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.relay.links.AttachMessageHandler;
import org.cloister.relay.links.DocumentDelivery;
import org.cloister.relay.links.LinkAcceptor;
import org.cloister.relay.links.LinkAdmission;
import org.cloister.relay.links.LinkListener;
import org.cloister.relay.links.LinkMessenger;
import org.cloister.relay.links.LinkRegistry;
import org.cloister.relay.links.LinkRevocationWatch;
import org.cloister.relay.links.ReconnectSpread;
import org.cloister.relay.links.RelayDrain;
import org.cloister.relay.links.RelayMetrics;
import org.cloister.relay.links.RenewalForwarder;
import org.cloister.relay.links.RevocationDistributor;
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

/**
 * Wires the relay's parts in the order in which they use each other, from the records to the listening socket, and
 * closes them. No part knows this class.
 */
@SuppressWarnings("FutureReturnValueIgnored") // closed connections have their own events
public final class RelayDaemon implements AutoCloseable {
    private final InstantSource clock;
    private final LinkRegistry registry = new LinkRegistry();
    private final ReconnectSpread reconnect = new ReconnectSpread();
    private final CircuitBroker circuits;
    private final TicketStreamLimits streamLimits;
    private final TicketLifecycle tickets;
    private final RenewalForwarder renewals;
    private final DocumentDelivery delivery;
    private final RelayDrain drain;
    private final LinkListener listener;
    private final PeriodicCheck revocationCheck;
    private final RelayAdminApi adminApi;

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
            Optional<GlobalSlurm> slurm,
            TicketTimeouts times) {}

    /** Starts the relay; it listens when the constructor returns. */
    public RelayDaemon(
            Settings settings,
            DeliveredDocuments documents,
            RelayRecords records,
            RelayMetrics metrics,
            EventLoopGroup loops)
            throws IOException {
        this.clock = records.clock();
        ProjectConnectionLimits projectLimits = new ProjectConnectionLimits(settings.limits, documents::approval);
        CircuitMetrics circuitMetrics = new CircuitMetrics(metrics.registry(), RelayMetrics.PREFIX);
        this.circuits = new CircuitBroker(
                name -> Optional.ofNullable(registry.find(name)), projectLimits, settings.limits, circuitMetrics);
        TicketMetrics ticketMetrics = new TicketMetrics(metrics.registry(), RelayMetrics.PREFIX);
        this.streamLimits = new TicketStreamLimits(ticketMetrics);
        this.tickets = tickets(settings, documents, records, ticketMetrics);
        TicketStreamAcceptor streams =
                new TicketStreamAcceptor(tickets, documents.trustStore(), settings.name, streamLimits);
        registerGauges(metrics, documents, records);
        LinkMessenger messenger = new LinkMessenger(metrics);
        RevocationDistributor distributor = new RevocationDistributor(documents, registry, messenger);
        LinkRevocationWatch watch = new LinkRevocationWatch(documents, tickets, circuits);
        this.renewals = new RenewalForwarder(messenger);
        this.delivery = new DocumentDelivery(documents, tickets, watch, distributor, metrics);
        this.drain = new RelayDrain(registry, circuits, reconnect, settings.limits.drain());
        LinkAcceptor acceptor = new LinkAcceptor(
                new LinkAdmission(projectLimits, registry, watch, circuits),
                circuits,
                streams,
                new AttachMessageHandler(
                        settings.name,
                        registry,
                        messenger,
                        distributor,
                        renewals,
                        delivery,
                        tickets,
                        circuits,
                        reconnect,
                        drain,
                        metrics),
                settings.credential,
                documents.trustStore(),
                settings.limits,
                metrics);
        tickets.record(AuditEvent.of(clock.instant(), "relay.started"));
        this.listener = listen(settings, acceptor, loops);
        this.revocationCheck = new PeriodicCheck(loops.next(), watch::checkPeriodically);
        RelayStatus status = new RelayStatus(
                settings.name,
                this::notReadyReason,
                registry,
                renewals,
                circuits,
                circuitMetrics,
                documents,
                settings.slurm);
        this.adminApi = new RelayAdminApi(status, tickets, delivery, metrics.registry());
    }

    private TicketLifecycle tickets(
            Settings settings, DeliveredDocuments documents, RelayRecords records, TicketMetrics metrics)
            throws IOException {
        return new TicketLifecycle(
                new TicketLifecycleSettings(
                        settings.name, records.key(), settings.credential, settings.times, records.auditSpace()),
                documents,
                registry,
                records.state(),
                records.log(),
                settings.slurm,
                records.clock(),
                metrics);
    }

    private LinkListener listen(Settings settings, LinkAcceptor acceptor, EventLoopGroup loops) throws IOException {
        try {
            return new LinkListener(settings.listen, acceptor, loops);
        } catch (IOException e) {
            tickets.close();
            streamLimits.close();
            throw e;
        }
    }

    private void registerGauges(RelayMetrics metrics, DeliveredDocuments documents, RelayRecords records) {
        metrics.gauge("links", () -> registry.links().size());
        metrics.gauge("links.attached", registry::attached);
        metrics.gauge("circuits", circuits::openCircuits);
        metrics.gauge("projects", documents::projects);
        metrics.gauge("ticket.checks.waiting", streamLimits::waiting);
        metrics.gauge("ticket.unwritten.bytes", streamLimits::unwrittenBytes);
        metrics.gauge("tickets", tickets::open);
        metrics.gauge("records.waiting", tickets::waiting);
        metrics.gauge("slurm.silence.seconds", tickets::secondsSinceSlurmAnswer);
        metrics.gauge("audit.writable", () -> tickets.isAuditWritable() ? 1 : 0);
        metrics.gauge("audit.exhausted.projects", tickets::exhaustedProjects);
        metrics.gauge("state.free.bytes", () -> records.auditSpace().freeBytes().getAsLong());
    }

    public InetSocketAddress address() {
        return listener.address();
    }

    /** Returns why this relay is not ready; empty if it is. */
    public Optional<String> notReadyReason() {
        if (!listener.isListening() || drain.isDraining()) {
            return Optional.of("draining");
        }
        return tickets.slurmProblem();
    }

    public RelayAdminApi adminApi() {
        return adminApi;
    }

    public RenewalForwarder renewals() {
        return renewals;
    }

    public DocumentDelivery delivery() {
        return delivery;
    }

    public LinkRegistry registry() {
        return registry;
    }

    public CircuitBroker circuitBroker() {
        return circuits;
    }

    public TicketLifecycle ticketLifecycle() {
        return tickets;
    }

    /** Stops accepting work, notifies the agents, and returns when open circuits have ended or the time is over. */
    public void drain() throws InterruptedException {
        drain.drain(listener);
    }

    @Override
    public void close() {
        revocationCheck.close();
        listener.close();
        registry.links().forEach(link -> link.close().syncUninterruptibly());
        tickets.recordLast(AuditEvent.of(clock.instant(), "relay.stopped"));
        tickets.close();
        streamLimits.close();
    }
}
