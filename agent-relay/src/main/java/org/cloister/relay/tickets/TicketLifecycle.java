package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cloister.audit.AuditLogWriter;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.NetworkAllocator;
import org.cloister.relay.state.RelayDatabase;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.TicketTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts tickets and openings, tracks their jobs and records their ends. Thread-safe. */
public final class TicketLifecycle implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TicketLifecycle.class);
    private static final int RECENT = 1000;
    private static final long CLAIM_NS = Duration.ofSeconds(60).toNanos();

    private final TicketLifecycleSettings settings;
    private final DeliveredDocuments documents;
    private final AuditLogWriter log;
    private final InstantSource clock;
    private final GroupCommitter commits;
    private final TicketListeners listeners = new TicketListeners();
    private final VmLocations vmLocations = new VmLocations();
    private final OpenTickets openTickets = new OpenTickets();
    private final RefusalCounts refusals = new RefusalCounts();
    private final AuditBudget budget;
    private final TicketUpdates updates;
    private final Optional<GlobalSlurmClient> slurm;
    private final TicketJobTracker jobTracker;
    private final TicketCommands commands;
    private final SlotClaims claims;
    private final OpeningReports openings;
    private final SignerIdentities signers;
    /** Streams of controlling VMs, whose certificates are not those of their links. */
    private final RevocableSessions<TicketPeer> controllers = new RevocableSessions<>();

    private final RecordMaintenance maintenance;
    /** Flag that is set while a periodic check waits for the records thread. */
    private final AtomicBoolean checkPending = new AtomicBoolean();

    /**
     * Resumes the tickets that an earlier process of the relay left.
     *
     * @param slurm empty for a relay that accepts no tickets
     */
    public TicketLifecycle(
            TicketLifecycleSettings settings,
            DeliveredDocuments documents,
            AttachedAgents agents,
            RelayDatabase state,
            AuditLogWriter log,
            Optional<GlobalSlurm> slurm,
            InstantSource clock,
            TicketMetrics metrics)
            throws IOException {
        this.settings = settings;
        this.documents = documents;
        this.log = log;
        this.clock = clock;
        this.commits = new GroupCommitter(state, log);
        this.budget = new AuditBudget(settings.auditSpace().projectBytes());
        this.updates = new TicketUpdates(clock, log, listeners, vmLocations, openTickets, metrics);
        this.slurm =
                slurm.map(each -> new GlobalSlurmClient(each, settings.times().pollInterval(), openTickets::ids));
        this.jobTracker = new TicketJobTracker(
                settings, this.slurm, documents, agents, commits, openTickets, updates, metrics, clock);
        TicketAdmission admission = new TicketAdmission(
                settings.auditSpace(),
                documents,
                log,
                budget,
                refusals,
                openTickets,
                updates,
                jobTracker,
                metrics,
                clock);
        this.commands = new TicketCommands(documents, commits, openTickets, updates, admission, jobTracker, metrics);
        this.claims =
                new SlotClaims(documents, commits, openTickets, vmLocations, listeners, updates, jobTracker, clock);
        this.openings = new OpeningReports(commits, agents, listeners);
        this.signers = new SignerIdentities(documents);
        this.maintenance = new RecordMaintenance(listeners, settings.times().vlanLease(), clock, System.nanoTime());
        int open = resume(state);
        LOG.info("resuming tickets open={} slurm={}", open, slurm.isPresent() ? "yes" : "none");
        commits.start();
        this.slurm.ifPresent(calls -> calls.startPolling(jobTracker::onJobSnapshot));
    }

    /** Resumes the open tickets, and charges today's audit budgets for what was accepted before. */
    private int resume(RelayDatabase state) throws RelayDatabaseException {
        return state.transact(transaction -> {
            Instant now = clock.instant();
            for (TicketTable.AcceptedTotals each : transaction.tickets().acceptedSince(AuditBudget.midnight(now))) {
                budget.charge(each.project(), AuditBudget.cost(each.tickets(), each.nodes()), now);
            }
            for (TicketRow row : transaction.tickets().open()) {
                jobTracker.resume(row, signers.of(transaction, row));
                vmLocations.resume(transaction, row);
                if (row.isOpening()
                        && row.request().position().epoch()
                                < transaction
                                        .tickets()
                                        .highestOpening(row.request().project())) {
                    jobTracker.supersede(row);
                }
            }
            return transaction.tickets().open().size();
        });
    }

    /**
     * Registers a peer and sends the welcome.
     *
     * @param chain the chain that a controlling VM showed; empty for others
     */
    void addPeer(TicketPeer peer, List<ByteString> chain) {
        boolean controller = peer.identity().role() == CertificateRole.CONTROLLER;
        if (controller) {
            // The links of other peers close by themselves.
            controllers.add(peer, peer.identity());
            commands.updateSignerChain(peer.identity(), chain);
        }
        listeners.add(peer);
        // Other peers have seen the relay's chain in their links' handshakes.
        peer.sendUpdate("welcome", new RelayTicketMessage.Welcome(updates.head(), controller ? chain() : List.of()));
    }

    void removePeer(TicketPeer peer) {
        listeners.remove(peer);
        controllers.remove(peer);
    }

    /**
     * Dispatches a message by its kind and the peer's role.
     *
     * @param chain the chain that the peer showed; empty for a peer that its link authenticated
     */
    void onMessage(TicketPeer peer, List<ByteString> chain, AgentTicketMessage message) {
        CertificateRole role = peer.identity().role();
        if (message instanceof AgentTicketMessage.Submit order && role == CertificateRole.CONTROLLER) {
            commands.submitTicket(peer, chain, order.ticket());
        } else if (message instanceof AgentTicketMessage.Withdraw withdraw && role == CertificateRole.CONTROLLER) {
            commands.withdrawTicket(peer, withdraw.withdrawal());
        } else if (message instanceof AgentTicketMessage.QueryTicket query
                && (role == CertificateRole.CONTROLLER || role == CertificateRole.DEVICE)) {
            commands.sendStatus(peer, query.ticket());
        } else if (role == CertificateRole.DEVICE && message instanceof AgentTicketMessage.Open open) {
            commands.submitOpening(peer, open.chain(), open.opening());
        } else if (role == CertificateRole.DEVICE && message instanceof AgentTicketMessage.Close close) {
            commands.withdrawOpening(peer, close.chain(), close.withdrawal());
        } else if (message instanceof AgentTicketMessage.Claim claim && role == CertificateRole.HOST) {
            claims.claim(peer, claim.ticket(), claim.job());
        } else if (message instanceof AgentTicketMessage.Report report && role == CertificateRole.HOST) {
            claims.report(peer, report);
        } else if (message instanceof AgentTicketMessage.HostFault fault && role == CertificateRole.HOST) {
            claims.forwardFault(peer, fault);
        } else if (message instanceof AgentTicketMessage.QueryQuota && role == CertificateRole.DEVICE) {
            sendQuota(peer);
        } else if (message instanceof AgentTicketMessage.QueryOpenings && role == CertificateRole.DEVICE) {
            openings.sendStatus(peer);
        } else if (message instanceof AgentTicketMessage.UnknownMessage) {
            peer.skipAnswer();
        } else {
            peer.answer(RefusalMessages.of(
                    "",
                    TicketClause.SIGNATURE,
                    "a " + role + " may not send this message; see docs/protocol.md, section 13"));
        }
    }

    private void sendQuota(TicketPeer peer) {
        String project = peer.identity().name().project();
        commits.add(peer.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<ProjectApproval> approval = documents.approval(project);
                QuotaUsage usage = records.transaction().tickets().usage(project);
                records.onCommitted(() ->
                        peer.answer(approval.<RelayTicketMessage>map(each -> QuotaMessages.of(each, usage))
                                .orElseGet(() -> RefusalMessages.of(
                                        "",
                                        TicketClause.PROJECT,
                                        "the site has no valid approval of the project; have the site approve it"))));
            }

            @Override
            public void onFailure() {
                peer.answer(RefusalMessages.unavailable(""));
            }
        });
    }

    /** Writes an event of another part of the relay to the audit log. */
    public void record(AuditEvent event) {
        commits.add(records -> records.event(event));
    }

    /** Writes the last event, and before it the refusals that were counted until then. */
    public void recordLast(AuditEvent event) {
        commits.add(records -> {
            refusals.record(records, refusals.all(), clock.instant());
            records.event(event);
        });
    }

    /** Returns the newest signed head of the audit log, an envelope. */
    public ByteString head() {
        return updates.head();
    }

    /** Ends the tickets of signers that are no longer trusted, and maintains the records; called once a second. */
    public void runPeriodicChecks() {
        for (RevocableSessions.RevokedSession<TicketPeer> each :
                documents.trustStore().removeRevoked(controllers)) {
            LOG.info(
                    "closing ticket stream peer={} reason=\"{}\"",
                    each.by().name(),
                    each.refusal().getMessage());
            each.what().close();
        }
        if (!checkPending.compareAndSet(false, true)) {
            // The previous check still waits for a stalled disk.
            return;
        }
        commits.add(new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                checkPending.set(false);
                endTicketsAndMaintain(records, System.nanoTime());
            }

            @Override
            public void onFailure() {
                checkPending.set(false);
            }
        });
    }

    private void endTicketsAndMaintain(GroupCommitter.Context records, long now) throws RelayDatabaseException {
        for (TicketRuntimeState ticket : openTickets.all()) {
            if (ticket.stop.isEmpty() && !signers.isTrusted(ticket.signer)) {
                jobTracker.stop(ticket, TicketEnd.REVOKED);
            }
            List<TicketRuntimeState.PendingClaim> late = ticket.claims.stream()
                    .filter(each -> now - each.sinceNs() > CLAIM_NS)
                    .toList();
            ticket.claims.removeAll(late);
            late.forEach(each -> each.peer().answer(RefusalMessages.unavailable(ticket.id)));
        }
        budget.updateExhausted(clock.instant());
        if (log.isWritable() && settings.auditSpace().isAmple()) {
            refusals.record(records, refusals.due(clock.instant()), clock.instant());
        }
        maintenance.runIfDue(records.transaction(), now);
    }

    /** Returns the relay's own certificates, the leaf first. */
    private List<ByteString> chain() {
        List<ByteString> chain = new ArrayList<>();
        try {
            for (X509Certificate each : settings.credential().get().chain()) {
                chain.add(ByteString.copyFrom(each.getEncoded()));
            }
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate of the relay cannot be encoded", e);
        }
        return chain;
    }

    /** Stops or resumes the acceptance of new tickets; the setting persists across restarts. */
    public CompletableFuture<Boolean> drain(boolean on) {
        return query(records -> {
            boolean was =
                    records.transaction().marks().get(TicketCommands.DRAINING).isPresent();
            if (on != was) {
                if (on) {
                    records.transaction().marks().set(TicketCommands.DRAINING, "on");
                } else {
                    records.transaction().marks().clear(TicketCommands.DRAINING);
                }
                records.event(AuditEvent.of(clock.instant(), on ? "relay.draining" : "relay.undrained"));
            }
            return on;
        });
    }

    /** Status for operators. */
    public record Status(
            List<TicketRow> tickets, boolean draining, NetworkAllocator.VlanCounts vlans, boolean auditWritable) {}

    /** Returns open tickets, and those that ended since a time. */
    public CompletableFuture<Status> status(Instant since) {
        return query(records -> {
            RelayTransaction transaction = records.transaction();
            List<TicketRow> rows = new ArrayList<>(transaction.tickets().open());
            rows.addAll(transaction.tickets().endedSince(since, RECENT));
            return new Status(
                    rows,
                    transaction.marks().get(TicketCommands.DRAINING).isPresent(),
                    transaction.numbers().vlans(),
                    log.isWritable());
        });
    }

    private interface Query<T> {
        T run(GroupCommitter.Context records) throws RelayDatabaseException;
    }

    private <T> CompletableFuture<T> query(Query<T> query) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        commits.add(new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                T found = query.run(records);
                records.onCommitted(() -> answer.complete(found));
            }

            @Override
            public void onFailure() {
                answer.completeExceptionally(
                        new IOException("the relay cannot read or change its records now; its log shows why"));
            }
        });
        return answer;
    }

    /** Returns the host of this VM; empty while no host has claimed its slot or its running opening. */
    public Optional<CertificateName> hostOf(CertificateName vm) {
        return vmLocations.findHost(vm);
    }

    /** Returns the number of open tickets, for a metric. */
    public int open() {
        return openTickets.size();
    }

    /** Returns the number of waiting changes of the records, for a metric. */
    public int waiting() {
        return commits.waiting();
    }

    /** Returns the seconds since the Global Slurm last answered; 0 without one. */
    public int secondsSinceSlurmAnswer() {
        return slurm.map(GlobalSlurmClient::secondsSinceAnswer).orElse(0);
    }

    /** Returns why no ticket can be submitted to the Global Slurm; empty if no reason is known, and without one. */
    public Optional<String> slurmProblem() {
        return slurm.flatMap(GlobalSlurmClient::problem);
    }

    /** Returns the number of projects whose audit budget of the day is used up, for a metric. */
    public int exhaustedProjects() {
        return budget.exhausted();
    }

    public boolean isAuditWritable() {
        return log.isWritable();
    }

    /** Completes the waiting requests. Jobs continue, and the next process of the relay tracks them. */
    @Override
    public void close() {
        commits.close();
        slurm.ifPresent(GlobalSlurmClient::close);
    }
}
