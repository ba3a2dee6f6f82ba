package org.cloister.relay.ticket;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.cloister.protocol.audit.Fact;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.Job;
import org.cloister.relay.slurm.NodeShare;
import org.cloister.relay.slurm.Partitions;
import org.cloister.relay.slurm.Submission;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows open tickets in Global Slurm: does what {@link Course} decides, and writes down what came of it. Methods without a
 * note run on the records' thread.
 */
final class Following {
    private static final Logger LOG = LoggerFactory.getLogger(Following.class);
    private static final long CANCEL_AGAIN_NS = Duration.ofSeconds(10).toNanos();
    private static final int MOST_BACKOFF = 8;

    private final Office office;
    private final Optional<SlurmCalls> slurm;
    private final Assigning assigning;
    /** What waits for the records' thread. */
    private final AtomicReference<Optional<SlurmCalls.Look>> newest = new AtomicReference<>(Optional.empty());

    Following(Office office, Optional<SlurmCalls> slurm) {
        this.office = office;
        this.slurm = slurm;
        this.assigning = new Assigning(office, this);
    }

    /** From any thread. */
    boolean hasSlurm() {
        return slurm.isPresent();
    }

    /** From any thread. */
    boolean hasControllers() {
        return slurm.isPresent() && slurm.get().partitions().controllers().isPresent();
    }

    Assigning assigning() {
        return assigning;
    }

    /** A new ticket: nothing of it was ever sent. */
    void track(TicketRow row, Identity signer) {
        long now = System.nanoTime();
        office.tracked.put(row.id(), new Tracked(row.id(), row.request().project(), Optional.of(signer), now, now));
    }

    /** One that another process of the relay took: what that sent may still be on its way. */
    void resume(TicketRow row, Optional<Identity> signer) {
        long now = System.nanoTime();
        office.tracked.put(
                row.id(),
                new Tracked(
                        row.id(),
                        row.request().project(),
                        signer,
                        now,
                        now + office.terms.times().settle().toNanos()));
    }

    /** An opening came after it: a controlling VM's address is one VM's. */
    void supersede(TicketRow row) {
        Tracked ticket = office.tracked.get(row.id());
        if (ticket != null) {
            stop(ticket, TicketEnd.SUPERSEDED);
        }
    }

    /** Its record says that it may be there from now on. */
    void submit(String id) {
        Tracked ticket = office.tracked.get(id);
        if (ticket == null || ticket.busy || slurm.isEmpty()) {
            return;
        }
        ticket.busy = true;
        office.metrics.submissions.inc();
        office.commits.add(ticket.project, new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                Optional<TicketRow> row = records.transaction().tickets().byId(id);
                Optional<Approval> approval = row.flatMap(
                        each -> office.around.approval(each.request().project()));
                boolean wanted = row.isPresent()
                        && (row.get().state() == TicketState.ACCEPTED
                                || row.get().state() == TicketState.QUEUED)
                        && !row.get().withdrawn()
                        && ticket.stop.isEmpty()
                        && approval.isPresent()
                        && isFirst(records, row.get());
                if (!wanted) {
                    records.afterwards(() -> ticket.busy = false);
                    return;
                }
                byte[] envelope = records.transaction().tickets().envelope(id).orElseThrow();
                ResourceRequest asked = Papers.request(row.get(), envelope);
                int features = approval.get().features().size();
                if (asked.features().stream().anyMatch(each -> each >= features)) {
                    end(records, row.get(), TicketEnd.REFUSED, "the site has approved fewer features since");
                    return;
                }
                String partition = partition(row.get());
                if (partition.isEmpty()) {
                    end(
                            records,
                            row.get(),
                            TicketEnd.REFUSED,
                            "the relay has no partition for controlling VMs any more");
                    return;
                }
                records.transaction().tickets().submitting(id, office.now());
                Submission what = submission(partition, row.get(), approval.get(), asked);
                records.afterwards(() -> slurm.get().submit(ticket.project, what, answer -> submitted(id, answer)));
            }

            @Override
            public void failed() {
                ticket.busy = false;
            }
        });
    }

    /** Of an opening: that no earlier one of the project goes on. */
    private static boolean isFirst(Commits.Records records, TicketRow row) throws StateException {
        return !row.isOpening()
                || records.transaction().tickets().openOpenings(row.request().project()).stream()
                        .allMatch(each -> each.request().sequence().epoch()
                                >= row.request().sequence().epoch());
    }

    private String partition(TicketRow row) {
        Partitions partitions = slurm.orElseThrow().partitions();
        return row.isOpening() ? partitions.controllers().orElse("") : partitions.workers();
    }

    private Submission submission(String partition, TicketRow row, Approval approval, ResourceRequest asked) {
        Duration limit = Duration.ofMinutes(asked.minutes())
                .plus(office.terms.times().boot())
                .plus(office.terms.times().erase());
        return new Submission(
                partition,
                row.id(),
                row.request().account(),
                asked.nodes(),
                asked.tasks(),
                asked.cpusPerTask(),
                asked.tasksPerNode(),
                asked.memoryMib(),
                asked.exclusive(),
                limit,
                asked.features().stream().map(approval.features()::get).toList());
    }

    private void end(Commits.Records records, TicketRow row, TicketEnd end, String text) throws StateException {
        office.end(records, row, end, text);
        if (row.isOpening()) {
            // Another one may wait for this.
            records.afterwards(this::stopping);
        }
    }

    /** What sbatch said; from any thread. */
    private void submitted(String id, SlurmCalls.Answer<Long> answer) {
        office.commits.add(new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                Optional<TicketRow> row = records.transaction().tickets().byId(id);
                if (row.isPresent() && answer.value().isPresent()) {
                    adopt(records, row.get(), answer.value().get());
                } else if (row.isPresent() && answer.failure().orElse(null) instanceof SlurmRefused no) {
                    end(records, row.get(), TicketEnd.REFUSED, String.valueOf(no.getMessage()));
                }
                records.afterwards(() -> settle(id, answer.failure()));
            }

            @Override
            public void failed() {
                settle(id, Optional.of(new SlurmUnavailable("the relay's records could not be changed")));
            }
        });
    }

    private void settle(String id, Optional<Exception> failure) {
        Tracked ticket = office.tracked.get(id);
        if (ticket == null) {
            return;
        }
        long now = System.nanoTime();
        ticket.busy = false;
        ticket.changedNs = now;
        int factor = 1;
        if (failure.isPresent() && !(failure.get() instanceof SlurmRefused)) {
            office.metrics.slurmUnavailable.inc();
            LOG.warn(
                    "submission unanswered ticket={} reason=\"{}\"",
                    id,
                    failure.get().getMessage());
            factor = Math.min(1 << Math.min(ticket.failures, 3), MOST_BACKOFF);
            ticket.failures++;
        } else {
            ticket.failures = 0;
        }
        ticket.settledNs = now + factor * office.terms.times().settle().toNanos();
        slurm.ifPresent(SlurmCalls::lookSoon);
    }

    private void adopt(Commits.Records records, TicketRow row, long job) throws StateException {
        if (records.transaction().tickets().queued(row.id(), job)) {
            records.event(office.event("ticket.queued", row).with(Fact.GLOBAL_JOB, job));
            office.tell(records, row.id());
        }
    }

    /**
     * A withdrawal was recorded. The next look cancels what has the ticket's name: a slurmctld that was killed may have given
     * the number that the record has to another job.
     */
    void stopping() {
        slurm.ifPresent(SlurmCalls::lookSoon);
    }

    /** To be ended for this reason. */
    void stop(Tracked ticket, TicketEnd why) {
        if (ticket.stop.isEmpty()) {
            ticket.stop = Optional.of(why);
            LOG.info("stopping ticket={} reason={}", ticket.id, why);
            slurm.ifPresent(SlurmCalls::lookSoon);
        }
    }

    /** A host asks before the allocation is signed. */
    void await(String id, Tracked.Waiting waiting) {
        Tracked ticket = office.tracked.get(id);
        if (ticket == null) {
            waiting.party().answer(Refusals.unavailable(id));
        } else {
            ticket.claims.add(waiting);
            slurm.ifPresent(SlurmCalls::lookSoon);
        }
    }

    /** What Slurm said; from any thread. */
    void looked(SlurmCalls.Look look) {
        if (newest.getAndSet(Optional.of(look)).isPresent()) {
            // The change that waits takes the newest.
            return;
        }
        office.commits.add(new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                Optional<SlurmCalls.Look> said = newest.getAndSet(Optional.empty());
                if (said.isPresent()) {
                    follow(records, said.get());
                }
            }

            @Override
            public void failed() {
                newest.set(Optional.empty());
            }
        });
    }

    private void follow(Commits.Records records, SlurmCalls.Look look) throws StateException {
        Map<String, List<Job>> jobs = look.jobs().stream().collect(Collectors.groupingBy(Job::ticket));
        for (TicketRow row : records.transaction().tickets().open()) {
            Tracked ticket = office.tracked.get(row.id());
            if (ticket != null && !ticket.busy && look.askedNs() - ticket.changedNs > 0) {
                boolean settled = look.askedNs() - ticket.settledNs >= 0;
                follow(records, row, ticket, settled, answer(look, jobs, row));
            }
        }
    }

    private static Course.Answer answer(SlurmCalls.Look look, Map<String, List<Job>> jobs, TicketRow row) {
        Optional<List<Job>> accounted = look.accountedFor().contains(row.id())
                ? Optional.of(look.accounted().stream()
                        .filter(job -> job.ticket().equals(row.id()))
                        .toList())
                : Optional.empty();
        return new Course.Answer(jobs.getOrDefault(row.id(), List.of()), accounted);
    }

    private void follow(Commits.Records records, TicketRow row, Tracked ticket, boolean settled, Course.Answer answer)
            throws StateException {
        Optional<TicketEnd> stop = row.withdrawn() ? Optional.of(TicketEnd.WITHDRAWN) : ticket.stop;
        Course.Ticket at = new Course.Ticket(row.state(), row.job().orElse(0), stop, settled);
        for (Course.Step step : Course.next(at, answer)) {
            if (step instanceof Course.Step.Submit) {
                records.afterwards(() -> submit(row.id()));
            } else if (step instanceof Course.Step.Adopt adopt) {
                adopt(records, row, adopt.job());
            } else if (step instanceof Course.Step.Cancel cancel) {
                if (stop.isEmpty()) {
                    office.metrics.duplicateJobs.inc(cancel.jobs().size());
                    LOG.warn("jobs too many ticket={} jobs={}", row.id(), cancel.jobs());
                }
                records.afterwards(() -> cancel(ticket, cancel.jobs()));
            } else if (step instanceof Course.Step.Assign assign) {
                assign(records, row, ticket, assign.job());
            } else if (step instanceof Course.Step.End end) {
                end(records, row, end.end(), end.text());
            }
        }
    }

    private void cancel(Tracked ticket, List<Long> jobs) {
        long now = System.nanoTime();
        if (slurm.isEmpty() || now - ticket.cancelledNs < CANCEL_AGAIN_NS) {
            return;
        }
        Tracked its = ticket;
        its.cancelledNs = now;
        Runnable again = () -> office.commits.add(records -> its.cancelledNs = now - CANCEL_AGAIN_NS);
        jobs.forEach(job -> slurm.get().cancel(its.project, job, again));
    }

    /** Nodes first need their shares, which Slurm has to be asked for. */
    private void assign(Commits.Records records, TicketRow row, Tracked ticket, Job job) throws StateException {
        if (!ticket.shares.isEmpty()) {
            assigning.assign(records, row, ticket, job.id());
            return;
        }
        ticket.busy = true;
        slurm.orElseThrow()
                .shares(
                        ticket.project,
                        job.id(),
                        answer -> office.commits.add(new Commits.Change() {
                            @Override
                            public void in(Commits.Records changed) throws StateException {
                                List<NodeShare> shares =
                                        new ArrayList<>(answer.value().orElse(List.of()));
                                ticket.busy = false;
                                ticket.changedNs = System.nanoTime();
                                ticket.shares = List.copyOf(shares);
                                Optional<TicketRow> now =
                                        changed.transaction().tickets().byId(row.id());
                                if (!shares.isEmpty() && now.isPresent()) {
                                    assigning.assign(changed, now.get(), ticket, job.id());
                                }
                            }

                            @Override
                            public void failed() {
                                ticket.busy = false;
                            }
                        }));
    }
}
