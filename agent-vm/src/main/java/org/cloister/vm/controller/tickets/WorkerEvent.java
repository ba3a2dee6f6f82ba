package org.cloister.vm.controller.tickets;

import java.time.Duration;

/** Event of a ticket. An event may arrive twice, and an old one late. */
public sealed interface WorkerEvent {
    String ticket();

    /**
     * The site has allocated nodes.
     *
     * @param slots number of slots, with one worker VM each
     */
    record Allocated(String ticket, int slots) implements WorkerEvent {}

    /** A slot has completed a phase. */
    record Passed(String ticket, int slot, WorkerPhase phase, Duration took) implements WorkerEvent {}

    /**
     * A slot's slurmd runs; Slurm knows the node, or is about to.
     *
     * @param node its name in the Local Slurm
     */
    record NodeReady(String ticket, int slot, String node) implements WorkerEvent {}

    /** A slot's VM is gone while its ticket continues. */
    record NodeGone(String ticket, int slot, EndReason reason) implements WorkerEvent {}

    /** The ticket was refused: there are no nodes, and there will be none. */
    record Refused(String ticket, EndReason reason) implements WorkerEvent {}

    /** The ticket has ended completely; it has no further events. */
    record Ended(String ticket, EndReason reason) implements WorkerEvent {}

    /**
     * Reason why a ticket or a worker ended, for the job's owner.
     *
     * @param phase in which it happened
     * @param code identifier such as {@code quota}; {@code none} if it ended regularly
     * @param text what happened, both values; without a ticket's or host's secrets
     * @param hint remedy; empty if there is none
     * @param retryable whether another attempt may succeed
     */
    record EndReason(WorkerPhase phase, String code, String text, String hint, boolean retryable) {
        public static final EndReason NONE = new EndReason(WorkerPhase.TEARDOWN, "none", "ended", "", true);
    }
}
