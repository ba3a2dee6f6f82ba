package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cloister.audit.AuditLogWriter;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.protocol.ticket.AgentTicketMessage;
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
    private static final int MAX_DELETED = 500;
    private static final long MAINTENANCE_NS = Duration.ofSeconds(60).toNanos();
    private static final long CLAIM_NS = Duration.ofSeconds(60).toNanos();

    private final TicketContext context;
    private final Optional<GlobalSlurmClient> slurm;
    private final TicketJobTracker jobTracker;
    private final TicketCommands commands;
    private final SlotClaims claims;
    private final OpeningReports openings;
    private final SignerIdentities signers;
    /** Streams of controlling VMs, whose certificates are not those of their links. */
    private final RevocableSessions<TicketPeer> controllers = new RevocableSessions<>();
    /** Time since when projects have needed no VLAN, by project; used on the records thread only. */
    private final Map<String, Long> idle = new HashMap<>();

    /** Flag that is set while a periodic check waits for the records thread. */
    private final AtomicBoolean checkPending = new AtomicBoolean();

    private long maintainedNs = System.nanoTime();

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
        GroupCommitter commits = new GroupCommitter(state, log);
        this.context = new TicketContext(settings, documents, agents, commits, log, clock, metrics);
        this.slurm = slurm.map(each -> new GlobalSlurmClient(
                each, settings.times().pollInterval(), () -> Set.copyOf(context.openTickets.keySet())));
        this.jobTracker = new TicketJobTracker(context, this.slurm);
        this.commands = new TicketCommands(context, jobTracker);
        this.claims = new SlotClaims(context, jobTracker);
        this.openings = new OpeningReports(context);
        this.signers = new SignerIdentities(documents);
        List<TicketRow> open = state.transact(transaction -> {
            Instant now = context.now();
            for (TicketTable.AcceptedTotals each : transaction.tickets().acceptedSince(AuditBudget.midnight(now))) {
                context.budget.charge(each.project(), AuditBudget.cost(each.tickets(), each.nodes()), now);
            }
            for (TicketRow row : transaction.tickets().open()) {
                jobTracker.resume(row, signers.of(transaction, row));
                context.vmLocations.resume(transaction, row);
                if (row.isOpening()
                        && row.request().sequence().epoch()
                                < transaction
                                        .tickets()
                                        .highestOpening(row.request().project())) {
                    jobTracker.supersede(row);
                }
            }
            return transaction.tickets().open();
        });
        LOG.info("resuming tickets open={} slurm={}", open.size(), slurm.isPresent() ? "yes" : "none");
        commits.start();
        this.slurm.ifPresent(calls -> calls.startPolling(jobTracker::onJobSnapshot));
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
        context.listeners.add(peer);
        // Other peers have seen the relay's chain in their links' handshakes.
        peer.sendUpdate(
                "welcome", new RelayTicketMessage.Welcome(context.head(), controller ? context.chain() : List.of()));
    }

    void removePeer(TicketPeer peer) {
        context.listeners.remove(peer);
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
        context.commits.add(peer.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<ProjectApproval> approval = context.documents.approval(project);
                TicketTable.OpenTicketUsage usage = records.transaction().tickets().usage(project);
                records.onCommitted(() -> peer.answer(
                        approval.<RelayTicketMessage>map(each -> QuotaMessages.of(each, TicketRecords.usage(usage)))
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
        context.commits.add(records -> records.event(event));
    }

    /** Writes the last event, and before it the refusals that were counted until then. */
    public void recordLast(AuditEvent event) {
        context.commits.add(records -> {
            context.recordRefusals(records, context.refusals.all());
            records.event(event);
        });
    }

    /** Returns the newest signed head of the audit log, an envelope. */
    public ByteString head() {
        return context.head();
    }

    /** Ends the tickets of signers that are no longer trusted, and maintains the records; called once a second. */
    public void runPeriodicChecks() {
        for (RevocableSessions.RevokedSession<TicketPeer> each :
                context.documents.trustStore().removeRevoked(controllers)) {
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
        context.commits.add(new GroupCommitter.Change() {
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
        for (TicketRuntimeState ticket : List.copyOf(context.openTickets.values())) {
            if (ticket.stop.isEmpty() && !signers.isTrusted(ticket.signer)) {
                jobTracker.stop(ticket, TicketEnd.REVOKED);
            }
            List<TicketRuntimeState.PendingClaim> late = ticket.claims.stream()
                    .filter(each -> now - each.sinceNs() > CLAIM_NS)
                    .toList();
            ticket.claims.removeAll(late);
            late.forEach(each -> each.peer().answer(RefusalMessages.unavailable(ticket.id)));
        }
        context.budget.updateExhausted(context.now());
        if (context.log.isWritable() && context.settings.auditSpace().isAmple()) {
            context.recordRefusals(records, context.refusals.due(context.now()));
        }
        if (now - maintainedNs > MAINTENANCE_NS) {
            maintainedNs = now;
            maintain(records, now);
        }
    }

    private void maintain(GroupCommitter.Context records, long now) throws RelayDatabaseException {
        RelayTransaction transaction = records.transaction();
        transaction.numbers().tick();
        transaction.tickets().forget(context.now().minus(TicketTable.KEPT), MAX_DELETED);
        List<String> without = transaction.numbers().idleProjects();
        idle.keySet().retainAll(without);
        for (String project : without) {
            if (context.listeners.has(project)) {
                idle.remove(project);
            } else if (now - idle.computeIfAbsent(project, each -> now)
                    > context.settings.times().vlanLease().toNanos()) {
                transaction.numbers().releaseVlan(project);
                idle.remove(project);
            }
        }
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
                records.event(AuditEvent.of(context.now(), on ? "relay.draining" : "relay.undrained"));
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
                    context.log.isWritable());
        });
    }

    private interface Query<T> {
        T run(GroupCommitter.Context records) throws RelayDatabaseException;
    }

    private <T> CompletableFuture<T> query(Query<T> query) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        context.commits.add(new GroupCommitter.Change() {
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
        return context.vmLocations.findHost(vm);
    }

    /** Returns the number of open tickets, for a metric. */
    public int open() {
        return context.openTickets.size();
    }

    /** Returns the number of waiting changes of the records, for a metric. */
    public int waiting() {
        return context.commits.waiting();
    }

    /** Returns the seconds since the Global Slurm last answered; 0 without one. */
    public int secondsSinceSlurmAnswer() {
        return slurm.map(GlobalSlurmClient::secondsSinceAnswer).orElse(0);
    }

    /** Returns the number of projects whose audit budget of the day is used up, for a metric. */
    public int exhaustedProjects() {
        return context.budget.exhausted();
    }

    public boolean isAuditWritable() {
        return context.log.isWritable();
    }

    /** Completes the waiting requests. Jobs continue, and the next process of the relay tracks them. */
    @Override
    public void close() {
        context.commits.close();
        slurm.ifPresent(GlobalSlurmClient::close);
    }
}
