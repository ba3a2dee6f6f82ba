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

    private final Duration startTimeout;

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

    SchedulingPolicy(Duration startTimeout) {
        this.startTimeout = startTimeout;
    }

    /**
     * Decides for one job, or for all components of a heterogeneous one, which start together or not at all.
     *
     * @param complete whether each pending component has an open ticket among these
     * @return one decision per observation, in their order
     */
    List<TicketDecision> decide(List<Observation> observations, boolean complete) {
        List<TicketDecision> decisions =
                new ArrayList<>(observations.stream().map(this::decide).toList());
        if (observations.get(0).entry().hetJobId() == 0) {
            return decisions;
        }
        Optional<TicketDecision.GiveUp> first = Optional.empty();
        boolean ready = complete;
        for (int i = 0; i < decisions.size(); i++) {
            if (isPending(observations.get(i))) {
                if (first.isEmpty() && decisions.get(i) instanceof TicketDecision.GiveUp giveUp) {
                    first = Optional.of(giveUp);
                }
                ready &= decisions.get(i) instanceof TicketDecision.Ready
                        || observations.get(i).isPlaced();
            }
        }
        if (!complete && first.isEmpty()) {
            first = Optional.of(new TicketDecision.GiveUp(false, JobTicket.Stage.WITHDRAWN, Optional.empty()));
        }
        for (int i = 0; i < decisions.size(); i++) {
            if (isPending(observations.get(i))
                    && first.isPresent()
                    && !(decisions.get(i) instanceof TicketDecision.GiveUp)) {
                decisions.set(i, giveUp(observations.get(i), first.get().failure()));
            } else if (!ready && decisions.get(i) instanceof TicketDecision.Ready) {
                decisions.set(i, WAIT);
            }
        }
        return decisions;
    }

    private static boolean isPending(Observation observation) {
        return observation.job().isPresent()
                && observation.job().get().state() == LocalSlurmJobState.PENDING
                && !observation.entry().started();
    }

    private TicketDecision decide(Observation observation) {
        if (observation.job().isEmpty()) {
            boolean lost = observation.missedPolls() >= LOST_POLLS
                    && observation.reports().hasReport();
            return lost ? giveUp(observation, Optional.empty()) : WAIT;
        }
        LocalSlurmJob job = observation.job().get();
        return switch (job.state()) {
            case PENDING -> decidePending(observation, job);
            case UNKNOWN -> WAIT;
            case RUNNING -> decideRunning(observation, false);
            case COMPLETING -> decideRunning(observation, true);
            case ENDED ->
                new TicketDecision.GiveUp(
                        false,
                        observation.entry().started()
                                        || (observation.isPlaced()
                                                && !job.nodes().isEmpty())
                                ? JobTicket.Stage.RELEASED
                                : JobTicket.Stage.WITHDRAWN,
                        Optional.empty());
        };
    }

    private static TicketDecision decideRunning(Observation observation, boolean ending) {
        if (!observation.isPlaced()) {
            return giveUp(observation, Optional.empty());
        }
        // Of a ticket that ended while this process was down, no node's name is reported.
        Set<String> gone = observation.reports().isEnded()
                ? observation.nodes().keySet()
                : observation.reports().goneNodes();
        return new TicketDecision.Runs(Set.copyOf(gone), ending);
    }

    private TicketDecision decidePending(Observation observation, LocalSlurmJob job) {
        JobTicket entry = observation.entry();
        if (entry.started() || job.restarts() != entry.restarts()) {
            return giveUp(observation, Optional.empty());
        }
        if (observation.reports().failureReason().isPresent()) {
            // The process was killed before it submitted this ticket, which has therefore not failed.
            return giveUp(
                    observation,
                    observation.reports().endedWithoutReport()
                            ? Optional.empty()
                            : observation.reports().failureReason());
        }
        if (observation.isPlaced()) {
            return decidePlaced(observation, job);
        }
        boolean requestCovered = observation.currentRequest().isPresent()
                && RequestPlanner.covers(
                        entry.request(), observation.currentRequest().get());
        if (!SlurmJobReasons.waitsForNodes(job) || !requestCovered) {
            return giveUp(observation, Optional.empty());
        }
        if (!job.features().equals(LocalSlurm.UNPLACED)) {
            // The ticket was requested when the job had no other features: Slurm has lost that state.
            return giveUp(observation, Optional.empty());
        }
        if (observation.reports().readySlots() < entry.request().nodes()) {
            return WAIT;
        }
        if (allIdle(observation)) {
            return new TicketDecision.Ready();
        }
        if (observation.nowMs() - observation.reports().readyMs() > startTimeout.toMillis()) {
            return giveUp(observation, Optional.of(unregistered(observation)));
        }
        return WAIT;
    }

    private TicketDecision decidePlaced(Observation observation, LocalSlurmJob job) {
        if (SlurmJobReasons.doesNotFit(job)) {
            return giveUp(observation, Optional.of(misfit(observation, job)));
        }
        if (!SlurmJobReasons.waitsForNodes(job)) {
            return giveUp(observation, Optional.empty());
        }
        if (observation.nowMs() - observation.placedMs().orElse(observation.nowMs()) > startTimeout.toMillis()) {
            return giveUp(
                    observation,
                    Optional.of(new EndReason(
                            WorkerPhase.REGISTRATION,
                            "start",
                            "not started within " + startTimeout.toSeconds() + " s of its nodes, Slurm says "
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
    private static EndReason misfit(Observation observation, LocalSlurmJob job) {
        ResourceRequest request = observation.entry().request();
        OptionalLong minMemoryMib = observation.nodes().values().stream()
                .mapToLong(LocalSlurmNode::memoryMib)
                .min();
        boolean memoryMissing = minMemoryMib.isPresent() && minMemoryMib.getAsLong() < request.memoryMib();
        return new EndReason(
                WorkerPhase.REGISTRATION,
                "constraints",
                "Slurm says " + job.reason() + ": the nodes are not what the job asks for, " + request.cpusPerNode()
                        + " CPUs and " + request.memoryMib() + " MiB each"
                        + (memoryMissing ? "; one has " + minMemoryMib.getAsLong() + " MiB" : ""),
                memoryMissing
                        ? "ask an owner to raise [memory] in the project's settings"
                                + " to what the site's hosts take for a VM"
                        : "tell the site's administrator",
                true);
    }

    /**
     * Returns whether all nodes that the workers named are idle; no others matter, since a node's name and feature are
     * the ticket's.
     */
    private static boolean allIdle(Observation observation) {
        return observation.reports().ready().values().stream().allMatch(name -> {
            LocalSlurmNode node = observation.nodes().get(name);
            return node != null && node.state() == LocalSlurmNode.State.IDLE;
        });
    }

    private EndReason unregistered(Observation observation) {
        long idle = observation.nodes().values().stream()
                .filter(node -> node.state() == LocalSlurmNode.State.IDLE)
                .count();
        return new EndReason(
                WorkerPhase.REGISTRATION,
                "nodes",
                "only " + idle + " of " + observation.entry().request().nodes() + " nodes are idle in Slurm "
                        + startTimeout.toSeconds() + " s after their start",
                "",
                true);
    }

    private static TicketDecision giveUp(Observation observation, Optional<EndReason> failure) {
        boolean pending =
                observation.job().isPresent() && observation.job().get().state() == LocalSlurmJobState.PENDING;
        return new TicketDecision.GiveUp(
                pending && observation.isPlaced(),
                observation.entry().started() ? JobTicket.Stage.RELEASED : JobTicket.Stage.WITHDRAWN,
                failure);
    }
}
