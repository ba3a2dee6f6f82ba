package org.cloister.vm.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/**
 * What is next for an open ticket, from its record, what Slurm says of the job and its nodes, and what the workers said;
 * without a clock. Unknown is not absent: a job is lost only after several looks, and not before the workers were heard.
 */
final class Course {
    /** Looks in a row without its job, after which a ticket has none. */
    static final int LOST_LOOKS = 3;

    static final Verdict WAIT = new Verdict.Wait();

    private final Duration startLimit;

    /**
     * One ticket as it is seen now.
     *
     * @param job empty if Slurm has none of its name
     * @param missing looks in a row in which it had none
     * @param wanted what its job would ask for now; empty if that is nothing that can be asked for
     * @param nodes that have the ticket's feature, by name
     * @param placedMs empty if its job was not placed; as {@code nowMs} by the clock of {@link Moment#elapsedMs}
     */
    record Sight(
            Entry entry,
            Heard heard,
            Optional<Job> job,
            int missing,
            Optional<ResourceRequest> wanted,
            Map<String, Node> nodes,
            OptionalLong placedMs,
            long nowMs) {
        boolean isPlaced() {
            return job.isPresent() && job.get().features().equals(LocalSlurm.feature(entry.ticket()));
        }
    }

    Course(Duration startLimit) {
        this.startLimit = startLimit;
    }

    /**
     * Of one job, or of all components of a heterogeneous one, which start together or not at all.
     *
     * @param complete whether each component that waits has an open ticket among these
     * @return one for each, in their order
     */
    List<Verdict> of(List<Sight> together, boolean complete) {
        List<Verdict> own = new ArrayList<>(together.stream().map(this::of).toList());
        if (together.get(0).entry().set() == 0) {
            return own;
        }
        Optional<Verdict.GiveUp> first = Optional.empty();
        boolean ready = complete;
        for (int i = 0; i < own.size(); i++) {
            if (waits(together.get(i))) {
                if (first.isEmpty() && own.get(i) instanceof Verdict.GiveUp up) {
                    first = Optional.of(up);
                }
                ready &= own.get(i) instanceof Verdict.Ready || together.get(i).isPlaced();
            }
        }
        if (!complete && first.isEmpty()) {
            first = Optional.of(new Verdict.GiveUp(false, Entry.Stage.WITHDRAWN, Optional.empty()));
        }
        for (int i = 0; i < own.size(); i++) {
            if (waits(together.get(i)) && first.isPresent() && !(own.get(i) instanceof Verdict.GiveUp)) {
                own.set(i, giveUp(together.get(i), first.get().failure()));
            } else if (!ready && own.get(i) instanceof Verdict.Ready) {
                own.set(i, WAIT);
            }
        }
        return own;
    }

    private static boolean waits(Sight sight) {
        return sight.job().isPresent()
                && sight.job().get().state() == JobState.PENDING
                && !sight.entry().started();
    }

    private Verdict of(Sight sight) {
        if (sight.job().isEmpty()) {
            boolean lost = sight.missing() >= LOST_LOOKS && sight.heard().any();
            return lost ? giveUp(sight, Optional.empty()) : WAIT;
        }
        Job job = sight.job().get();
        return switch (job.state()) {
            case PENDING -> waiting(sight, job);
            case RUNNING -> running(sight, false);
            case COMPLETING -> running(sight, true);
            case ENDED ->
                new Verdict.GiveUp(
                        false,
                        sight.entry().started()
                                        || (sight.isPlaced() && !job.nodes().isEmpty())
                                ? Entry.Stage.RELEASED
                                : Entry.Stage.WITHDRAWN,
                        Optional.empty());
        };
    }

    private static Verdict running(Sight sight, boolean ending) {
        if (!sight.isPlaced()) {
            return giveUp(sight, Optional.empty());
        }
        return new Verdict.Runs(Set.copyOf(sight.heard().goneNodes()), ending);
    }

    private Verdict waiting(Sight sight, Job job) {
        Entry entry = sight.entry();
        if (entry.started() || job.restarts() != entry.restarts()) {
            return giveUp(sight, Optional.empty());
        }
        if (sight.heard().trouble().isPresent()) {
            // A ticket that was never asked for, for we were killed in between, has not failed.
            return giveUp(
                    sight,
                    sight.heard().endedUnknown()
                            ? Optional.empty()
                            : sight.heard().trouble());
        }
        if (sight.isPlaced()) {
            return placed(sight, job);
        }
        boolean wanted = sight.wanted().isPresent()
                && Requests.covers(entry.request(), sight.wanted().get());
        if (!Reasons.waitsForNodes(job) || !wanted) {
            return giveUp(sight, Optional.empty());
        }
        if (!job.features().equals(LocalSlurm.UNPLACED)) {
            // It was asked for when the job had none: Slurm has forgotten that.
            return giveUp(sight, Optional.empty());
        }
        if (sight.heard().readySlots() < entry.request().nodes()) {
            return WAIT;
        }
        if (allIdle(sight)) {
            return new Verdict.Ready();
        }
        if (sight.nowMs() - sight.heard().readyMs() > startLimit.toMillis()) {
            return giveUp(sight, Optional.of(unregistered(sight)));
        }
        return WAIT;
    }

    private Verdict placed(Sight sight, Job job) {
        if (Reasons.doesNotFit(job)) {
            return giveUp(sight, Optional.of(misfit(sight, job)));
        }
        if (!Reasons.waitsForNodes(job)) {
            return giveUp(sight, Optional.empty());
        }
        if (sight.nowMs() - sight.placedMs().orElse(sight.nowMs()) > startLimit.toMillis()) {
            return giveUp(
                    sight,
                    Optional.of(new Trouble(
                            Phase.REGISTRATION,
                            "start",
                            "want it started within " + startLimit.toSeconds() + " s of its nodes, Slurm says "
                                    + job.reason(),
                            "",
                            true)));
        }
        return WAIT;
    }

    /** What VMs get beside what their jobs ask for, the project's settings say: too little of that is missing in Slurm. */
    private static Trouble misfit(Sight sight, Job job) {
        ResourceRequest asked = sight.entry().request();
        OptionalLong least =
                sight.nodes().values().stream().mapToLong(Node::memoryMib).min();
        boolean memory = least.isPresent() && least.getAsLong() < asked.memoryMib();
        return new Trouble(
                Phase.REGISTRATION,
                "constraints",
                "Slurm says " + job.reason() + ": the nodes are not what the job asks for, " + asked.cpusPerNode()
                        + " CPUs and " + asked.memoryMib() + " MiB each"
                        + (memory ? "; one has " + least.getAsLong() + " MiB" : ""),
                memory
                        ? "ask an owner to raise [memory] in the project's settings to what the site's hosts take for a VM"
                        : "tell the site's administrator",
                true);
    }

    /** Of those that the workers named, all and no others are asked: a node's name and feature are the ticket's. */
    private static boolean allIdle(Sight sight) {
        return sight.heard().ready().values().stream().allMatch(name -> {
            Node node = sight.nodes().get(name);
            return node != null && node.state() == Node.State.IDLE;
        });
    }

    private Trouble unregistered(Sight sight) {
        long idle = sight.nodes().values().stream()
                .filter(node -> node.state() == Node.State.IDLE)
                .count();
        return new Trouble(
                Phase.REGISTRATION,
                "nodes",
                "want " + sight.entry().request().nodes() + " nodes idle in Slurm within " + startLimit.toSeconds()
                        + " s of their start, have " + idle,
                "",
                true);
    }

    private static Verdict giveUp(Sight sight, Optional<Trouble> failure) {
        boolean waiting = sight.job().isPresent() && sight.job().get().state() == JobState.PENDING;
        return new Verdict.GiveUp(
                waiting && sight.isPlaced(),
                sight.entry().started() ? Entry.Stage.RELEASED : Entry.Stage.WITHDRAWN,
                failure);
    }
}
