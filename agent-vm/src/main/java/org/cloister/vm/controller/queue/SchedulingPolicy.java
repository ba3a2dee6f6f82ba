package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/**
 * Decides the next action for an open ticket from its record, Slurm's report of the job and its nodes, and the workers'
 * reports; without a clock. Unknown is not absent: a job counts as lost only after several polls, and not before the
 * workers have reported.
 */
final class SchedulingPolicy {
    /** Consecutive polls without its job after which a ticket counts as having none. */
    static final int LOST_POLLS = 3;

    static final TicketDecision WAIT = new TicketDecision.Wait();

    private final Duration startLimit;

    /**
     * Observation of one ticket.
     *
     * @param job empty if Slurm has no such job
     * @param missedPolls consecutive polls in which Slurm had none
     * @param currentRequest what its job would request now; empty if that cannot be requested
     * @param nodes that have the ticket's feature, by name
     * @param placedMs empty if its job is not assigned; as {@code nowMs}, by the clock of {@link
     *     ClockReading#elapsedMs}
     */
    record Observation(
            JobTicket entry,
            WorkerReports reports,
            Optional<LocalSlurmJob> job,
            int missedPolls,
            Optional<ResourceRequest> currentRequest,
            Map<String, LocalSlurmNode> nodes,
            OptionalLong placedMs,
            long nowMs) {
        boolean isPlaced() {
            return job.isPresent() && job.get().features().equals(LocalSlurm.feature(entry.ticket()));
        }
    }

    SchedulingPolicy(Duration startLimit) {
        this.startLimit = startLimit;
    }

    /**
     * Decides for one job, or for all components of a heterogeneous one, which start together or not at all.
     *
     * @param complete whether each pending component has an open ticket among these
     * @return one decision per observation, in their order
     */
    List<TicketDecision> decide(List<Observation> together, boolean complete) {
        List<TicketDecision> own =
                new ArrayList<>(together.stream().map(this::decide).toList());
        if (together.get(0).entry().hetJobId() == 0) {
            return own;
        }
        Optional<TicketDecision.GiveUp> first = Optional.empty();
        boolean ready = complete;
        for (int i = 0; i < own.size(); i++) {
            if (waits(together.get(i))) {
                if (first.isEmpty() && own.get(i) instanceof TicketDecision.GiveUp up) {
                    first = Optional.of(up);
                }
                ready &= own.get(i) instanceof TicketDecision.Ready
                        || together.get(i).isPlaced();
            }
        }
        if (!complete && first.isEmpty()) {
            first = Optional.of(new TicketDecision.GiveUp(false, JobTicket.Stage.WITHDRAWN, Optional.empty()));
        }
        for (int i = 0; i < own.size(); i++) {
            if (waits(together.get(i)) && first.isPresent() && !(own.get(i) instanceof TicketDecision.GiveUp)) {
                own.set(i, giveUp(together.get(i), first.get().failure()));
            } else if (!ready && own.get(i) instanceof TicketDecision.Ready) {
                own.set(i, WAIT);
            }
        }
        return own;
    }

    private static boolean waits(Observation sight) {
        return sight.job().isPresent()
                && sight.job().get().state() == LocalSlurmJobState.PENDING
                && !sight.entry().started();
    }

    private TicketDecision decide(Observation sight) {
        if (sight.job().isEmpty()) {
            boolean lost = sight.missedPolls() >= LOST_POLLS && sight.reports().hasReport();
            return lost ? giveUp(sight, Optional.empty()) : WAIT;
        }
        LocalSlurmJob job = sight.job().get();
        return switch (job.state()) {
            case PENDING -> waiting(sight, job);
            case RUNNING -> running(sight, false);
            case COMPLETING -> running(sight, true);
            case ENDED ->
                new TicketDecision.GiveUp(
                        false,
                        sight.entry().started()
                                        || (sight.isPlaced() && !job.nodes().isEmpty())
                                ? JobTicket.Stage.RELEASED
                                : JobTicket.Stage.WITHDRAWN,
                        Optional.empty());
        };
    }

    private static TicketDecision running(Observation sight, boolean ending) {
        if (!sight.isPlaced()) {
            return giveUp(sight, Optional.empty());
        }
        return new TicketDecision.Runs(Set.copyOf(sight.reports().goneNodes()), ending);
    }

    private TicketDecision waiting(Observation sight, LocalSlurmJob job) {
        JobTicket entry = sight.entry();
        if (entry.started() || job.restarts() != entry.restarts()) {
            return giveUp(sight, Optional.empty());
        }
        if (sight.reports().failureReason().isPresent()) {
            // The process was killed before it submitted this ticket, which has therefore not failed.
            return giveUp(
                    sight,
                    sight.reports().endedWithoutReport()
                            ? Optional.empty()
                            : sight.reports().failureReason());
        }
        if (sight.isPlaced()) {
            return placed(sight, job);
        }
        boolean wanted = sight.currentRequest().isPresent()
                && RequestPlanner.covers(entry.request(), sight.currentRequest().get());
        if (!SlurmJobReasons.waitsForNodes(job) || !wanted) {
            return giveUp(sight, Optional.empty());
        }
        if (!job.features().equals(LocalSlurm.UNPLACED)) {
            // The ticket was requested when the job had no other features: Slurm has lost that state.
            return giveUp(sight, Optional.empty());
        }
        if (sight.reports().readySlots() < entry.request().nodes()) {
            return WAIT;
        }
        if (allIdle(sight)) {
            return new TicketDecision.Ready();
        }
        if (sight.nowMs() - sight.reports().readyMs() > startLimit.toMillis()) {
            return giveUp(sight, Optional.of(unregistered(sight)));
        }
        return WAIT;
    }

    private TicketDecision placed(Observation sight, LocalSlurmJob job) {
        if (SlurmJobReasons.doesNotFit(job)) {
            return giveUp(sight, Optional.of(misfit(sight, job)));
        }
        if (!SlurmJobReasons.waitsForNodes(job)) {
            return giveUp(sight, Optional.empty());
        }
        if (sight.nowMs() - sight.placedMs().orElse(sight.nowMs()) > startLimit.toMillis()) {
            return giveUp(
                    sight,
                    Optional.of(new EndReason(
                            WorkerPhase.REGISTRATION,
                            "start",
                            "want it started within " + startLimit.toSeconds() + " s of its nodes, Slurm says "
                                    + job.reason(),
                            "",
                            true)));
        }
        return WAIT;
    }

    /**
     * Explains why a job does not fit its nodes. The project's settings state what VMs get beyond their jobs' requests:
     * if that is too little, it is missing in Slurm.
     */
    private static EndReason misfit(Observation sight, LocalSlurmJob job) {
        ResourceRequest asked = sight.entry().request();
        OptionalLong least = sight.nodes().values().stream()
                .mapToLong(LocalSlurmNode::memoryMib)
                .min();
        boolean memory = least.isPresent() && least.getAsLong() < asked.memoryMib();
        return new EndReason(
                WorkerPhase.REGISTRATION,
                "constraints",
                "Slurm says " + job.reason() + ": the nodes are not what the job asks for, " + asked.cpusPerNode()
                        + " CPUs and " + asked.memoryMib() + " MiB each"
                        + (memory ? "; one has " + least.getAsLong() + " MiB" : ""),
                memory
                        ? "ask an owner to raise [memory] in the project's settings to what the site's hosts take for a VM"
                        : "tell the site's administrator",
                true);
    }

    /**
     * Returns whether all nodes that the workers named are idle; no others matter, since a node's name and feature are
     * the ticket's.
     */
    private static boolean allIdle(Observation sight) {
        return sight.reports().ready().values().stream().allMatch(name -> {
            LocalSlurmNode node = sight.nodes().get(name);
            return node != null && node.state() == LocalSlurmNode.State.IDLE;
        });
    }

    private EndReason unregistered(Observation sight) {
        long idle = sight.nodes().values().stream()
                .filter(node -> node.state() == LocalSlurmNode.State.IDLE)
                .count();
        return new EndReason(
                WorkerPhase.REGISTRATION,
                "nodes",
                "want " + sight.entry().request().nodes() + " nodes idle in Slurm within " + startLimit.toSeconds()
                        + " s of their start, have " + idle,
                "",
                true);
    }

    private static TicketDecision giveUp(Observation sight, Optional<EndReason> failure) {
        boolean waiting = sight.job().isPresent() && sight.job().get().state() == LocalSlurmJobState.PENDING;
        return new TicketDecision.GiveUp(
                waiting && sight.isPlaced(),
                sight.entry().started() ? JobTicket.Stage.RELEASED : JobTicket.Stage.WITHDRAWN,
                failure);
    }
}
