package org.cloister.relay.tickets;

import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.GlobalJob;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.JobSubmission;
import org.cloister.relay.slurm.NodeAllocation;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.TicketRow;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks open tickets in the Global Slurm: performs the steps that {@link TicketReconciler} returns, and records the
 * results. Methods without a note run on the records thread.
 */
final class TicketJobTracker {
    private static final Logger LOG = LoggerFactory.getLogger(TicketJobTracker.class);
    private static final long CANCEL_AGAIN_NS = Duration.ofSeconds(10).toNanos();
    private static final int MAX_BACKOFF = 8;

    private final TicketLifecycleSettings settings;
    private final DeliveredDocuments documents;
    private final GroupCommitter commits;
    private final OpenTickets openTickets;
    private final TicketUpdates updates;
    private final TicketMetrics metrics;
    private final InstantSource clock;
    private final Optional<GlobalSlurmClient> slurm;
    private final AllocationSigner allocationSigner;
    /** Newest snapshot that waits for the records thread. */
    private final AtomicReference<Optional<GlobalSlurmClient.JobSnapshot>> newest =
            new AtomicReference<>(Optional.empty());

    TicketJobTracker(
            TicketLifecycleSettings settings,
            Optional<GlobalSlurmClient> slurm,
            DeliveredDocuments documents,
            AttachedAgents agents,
            GroupCommitter commits,
            OpenTickets openTickets,
            TicketUpdates updates,
            TicketMetrics metrics,
            InstantSource clock) {
        this.settings = settings;
        this.slurm = slurm;
        this.documents = documents;
        this.commits = commits;
        this.openTickets = openTickets;
        this.updates = updates;
        this.metrics = metrics;
        this.clock = clock;
        this.allocationSigner = new AllocationSigner(settings, agents, updates, clock, this);
    }

    /** Thread-safe. */
    boolean hasSlurm() {
        return slurm.isPresent();
    }

    /** Thread-safe. */
    boolean hasControllers() {
        return slurm.isPresent() && slurm.get().partitions().controllers().isPresent();
    }

    /** Tracks a new ticket, of which nothing was submitted. */
    void track(TicketRow row, CertifiedIdentity signer) {
        long now = System.nanoTime();
        openTickets.add(new TicketRuntimeState(row.id(), row.request().project(), Optional.of(signer), now, now));
    }

    /**
     * Tracks a ticket that another process of the relay accepted: submissions of that process may still arrive at
     * Slurm.
     */
    void resume(TicketRow row, Optional<CertifiedIdentity> signer) {
        long now = System.nanoTime();
        openTickets.add(new TicketRuntimeState(
                row.id(),
                row.request().project(),
                signer,
                now,
                now + settings.times().submissionSettleTime().toNanos()));
    }

    /** Stops an opening because a later one was accepted: a controlling VM's address belongs to one VM. */
    void supersede(TicketRow row) {
        TicketRuntimeState ticket = openTickets.find(row.id());
        if (ticket != null) {
            stop(ticket, TicketEnd.SUPERSEDED);
        }
    }

    /** Submits the ticket's job. The record states first that Slurm may have the job from then on. */
    void submit(String id) {
        TicketRuntimeState ticket = openTickets.find(id);
        if (ticket == null || ticket.busy || slurm.isEmpty()) {
            return;
        }
        ticket.busy = true;
        metrics.submissions.inc();
        commits.add(ticket.project, new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<TicketRow> row = records.transaction().tickets().byId(id);
                Optional<ProjectApproval> approval =
                        row.flatMap(each -> documents.approval(each.request().project()));
                boolean due = row.isPresent()
                        && (row.get().state() == TicketState.ACCEPTED
                                || row.get().state() == TicketState.QUEUED)
                        && !row.get().withdrawn()
                        && ticket.stop.isEmpty()
                        && approval.isPresent()
                        && isFirst(records, row.get());
                if (!due) {
                    records.onCommitted(() -> ticket.busy = false);
                    return;
                }
                byte[] envelope = records.transaction().tickets().envelope(id).orElseThrow();
                ResourceRequest resources = TicketRecords.request(row.get(), envelope);
                int features = approval.get().features().size();
                if (resources.features().stream().anyMatch(each -> each >= features)) {
                    end(
                            records,
                            row.get(),
                            TicketEnd.REFUSED,
                            "the site's newer approval has fewer features than the ticket requests");
                    return;
                }
                String partition = partition(row.get());
                if (partition.isEmpty()) {
                    end(
                            records,
                            row.get(),
                            TicketEnd.REFUSED,
                            "the relay no longer has a partition for controlling VMs");
                    return;
                }
                records.transaction().tickets().recordSubmission(id, clock.instant());
                JobSubmission what = submission(partition, row.get(), approval.get(), resources);
                records.onCommitted(() -> slurm.get().submit(ticket.project, what, answer -> submitted(id, answer)));
            }

            @Override
            public void onFailure() {
                ticket.busy = false;
            }
        });
    }

    /** Returns whether no earlier opening of the project is open; true for tickets. */
    private static boolean isFirst(GroupCommitter.Context records, TicketRow row) throws RelayDatabaseException {
        return !row.isOpening()
                || records.transaction().tickets().openOpenings(row.request().project()).stream()
                        .allMatch(each -> each.request().position().epoch()
                                >= row.request().position().epoch());
    }

    private String partition(TicketRow row) {
        GlobalPartitions partitions = slurm.orElseThrow().partitions();
        return row.isOpening() ? partitions.controllers().orElse("") : partitions.workers();
    }

    private JobSubmission submission(
            String partition, TicketRow row, ProjectApproval approval, ResourceRequest resources) {
        Duration limit = Duration.ofMinutes(resources.minutes())
                .plus(settings.times().bootTime())
                .plus(settings.times().eraseTime());
        return new JobSubmission(
                partition,
                row.id(),
                row.request().account(),
                resources.nodes(),
                resources.tasks(),
                resources.cpusPerTask(),
                resources.tasksPerNode(),
                resources.memoryMib(),
                resources.exclusive(),
                limit,
                resources.features().stream().map(approval.features()::get).toList());
    }

    private void end(GroupCommitter.Context records, TicketRow row, TicketEnd end, String text)
            throws RelayDatabaseException {
        updates.recordEnd(records, row, end, text);
        if (row.isOpening()) {
            // Another opening may wait for this end.
            records.onCommitted(this::onWithdrawal);
        }
    }

    /** Records the result of sbatch. Thread-safe. */
    private void submitted(String id, GlobalSlurmClient.CallResult<Long> answer) {
        commits.add(new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<TicketRow> row = records.transaction().tickets().byId(id);
                if (row.isPresent() && answer.value().isPresent()) {
                    adopt(records, row.get(), answer.value().get());
                } else if (row.isPresent() && answer.failure().orElse(null) instanceof SlurmRefusedException no) {
                    end(records, row.get(), TicketEnd.REFUSED, String.valueOf(no.getMessage()));
                }
                records.onCommitted(() -> settle(id, answer.failure()));
            }

            @Override
            public void onFailure() {
                settle(id, Optional.of(new SlurmUnavailableException("the relay's records could not be changed")));
            }
        });
    }

    private void settle(String id, Optional<Exception> failure) {
        TicketRuntimeState ticket = openTickets.find(id);
        if (ticket == null) {
            return;
        }
        long now = System.nanoTime();
        ticket.busy = false;
        ticket.changedNs = now;
        int factor = 1;
        if (failure.isPresent() && !(failure.get() instanceof SlurmRefusedException)) {
            metrics.slurmUnavailable.inc();
            LOG.warn(
                    "sbatch did not answer and may be repeated ticket={} reason=\"{}\"",
                    id,
                    failure.get().getMessage());
            factor = Math.min(1 << Math.min(ticket.failures, 3), MAX_BACKOFF);
            ticket.failures++;
        } else {
            ticket.failures = 0;
        }
        ticket.settledNs =
                now + factor * settings.times().submissionSettleTime().toNanos();
        slurm.ifPresent(GlobalSlurmClient::pollSoon);
    }

    private void adopt(GroupCommitter.Context records, TicketRow row, long job) throws RelayDatabaseException {
        if (records.transaction().tickets().recordQueued(row.id(), job)) {
            records.event(updates.event("ticket.queued", row).with(AuditField.GLOBAL_JOB, job));
            updates.sendUpdate(records, row.id());
        }
    }

    /**
     * Reacts to a recorded withdrawal by polling soon. The next poll cancels the jobs that have the ticket's name: a
     * slurmctld that was killed may have given the recorded job id to another job.
     */
    void onWithdrawal() {
        slurm.ifPresent(GlobalSlurmClient::pollSoon);
    }

    /** Marks the ticket to be ended for this reason. */
    void stop(TicketRuntimeState ticket, TicketEnd why) {
        if (ticket.stop.isEmpty()) {
            ticket.stop = Optional.of(why);
            LOG.info("stopping the ticket's job ticket={} reason={}", ticket.id, why);
            slurm.ifPresent(GlobalSlurmClient::pollSoon);
        }
    }

    /** Keeps a host's claim that arrives before the allocation is signed. */
    void awaitAllocation(String id, TicketRuntimeState.PendingClaim waiting) {
        TicketRuntimeState ticket = openTickets.find(id);
        if (ticket == null) {
            waiting.peer().answer(RefusalMessages.unavailable(id));
        } else {
            ticket.claims.add(waiting);
            slurm.ifPresent(GlobalSlurmClient::pollSoon);
        }
    }

    /** Processes a snapshot of Slurm's jobs. Thread-safe. */
    void onJobSnapshot(GlobalSlurmClient.JobSnapshot snapshot) {
        if (newest.getAndSet(Optional.of(snapshot)).isPresent()) {
            // The change that waits uses the newest snapshot.
            return;
        }
        commits.add(new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<GlobalSlurmClient.JobSnapshot> polled = newest.getAndSet(Optional.empty());
                if (polled.isPresent()) {
                    follow(records, polled.get());
                }
            }

            @Override
            public void onFailure() {
                newest.set(Optional.empty());
            }
        });
    }

    private void follow(GroupCommitter.Context records, GlobalSlurmClient.JobSnapshot snapshot)
            throws RelayDatabaseException {
        Map<String, List<GlobalJob>> jobs = snapshot.jobs().stream().collect(Collectors.groupingBy(GlobalJob::ticket));
        for (TicketRow row : records.transaction().tickets().open()) {
            TicketRuntimeState ticket = openTickets.find(row.id());
            if (ticket != null && !ticket.busy && snapshot.queriedNs() - ticket.changedNs > 0) {
                boolean settled = snapshot.queriedNs() - ticket.settledNs >= 0;
                follow(records, row, ticket, settled, snapshot.about(row.id(), jobs.getOrDefault(row.id(), List.of())));
            }
        }
    }

    private void follow(
            GroupCommitter.Context records,
            TicketRow row,
            TicketRuntimeState ticket,
            boolean settled,
            TicketReconciler.SlurmAnswer answer)
            throws RelayDatabaseException {
        Optional<TicketEnd> stop = row.withdrawn() ? Optional.of(TicketEnd.WITHDRAWN) : ticket.stop;
        TicketReconciler.TicketView at =
                new TicketReconciler.TicketView(row.state(), row.job().orElse(0), stop, settled);
        for (TicketReconciler.Step step : TicketReconciler.nextSteps(at, answer)) {
            if (step instanceof TicketReconciler.Step.Submit) {
                records.onCommitted(() -> submit(row.id()));
            } else if (step instanceof TicketReconciler.Step.Adopt adopt) {
                adopt(records, row, adopt.job());
            } else if (step instanceof TicketReconciler.Step.Cancel cancel) {
                if (stop.isEmpty()) {
                    metrics.duplicateJobs.inc(cancel.jobs().size());
                    LOG.warn("cancelling duplicate jobs ticket={} jobs={}", row.id(), cancel.jobs());
                }
                records.onCommitted(() -> cancel(ticket, cancel.jobs()));
            } else if (step instanceof TicketReconciler.Step.Assign assign) {
                assign(records, row, ticket, assign.job());
            } else if (step instanceof TicketReconciler.Step.End end) {
                end(records, row, end.end(), end.text());
            }
        }
    }

    private void cancel(TicketRuntimeState ticket, List<Long> jobs) {
        long now = System.nanoTime();
        if (slurm.isEmpty() || now - ticket.cancelledNs < CANCEL_AGAIN_NS) {
            return;
        }
        ticket.cancelledNs = now;
        Runnable again = () -> commits.add(records -> ticket.cancelledNs = now - CANCEL_AGAIN_NS);
        jobs.forEach(job -> slurm.get().cancel(ticket.project, job, again));
    }

    /** Assigns the job's nodes; their CPUs and memory are first queried from Slurm. */
    private void assign(GroupCommitter.Context records, TicketRow row, TicketRuntimeState ticket, GlobalJob job)
            throws RelayDatabaseException {
        if (!ticket.shares.isEmpty()) {
            allocationSigner.assign(records, row, ticket, job.id());
            return;
        }
        ticket.busy = true;
        slurm.orElseThrow()
                .shares(
                        ticket.project,
                        job.id(),
                        answer -> commits.add(new GroupCommitter.Change() {
                            @Override
                            public void apply(GroupCommitter.Context changed) throws RelayDatabaseException {
                                List<NodeAllocation> shares =
                                        new ArrayList<>(answer.value().orElse(List.of()));
                                ticket.busy = false;
                                ticket.changedNs = System.nanoTime();
                                ticket.shares = List.copyOf(shares);
                                Optional<TicketRow> now =
                                        changed.transaction().tickets().byId(row.id());
                                if (!shares.isEmpty() && now.isPresent()) {
                                    allocationSigner.assign(changed, now.get(), ticket, job.id());
                                }
                            }

                            @Override
                            public void onFailure() {
                                ticket.busy = false;
                            }
                        }));
    }
}
