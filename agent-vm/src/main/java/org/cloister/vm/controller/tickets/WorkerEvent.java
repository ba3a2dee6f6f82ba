package org.cloister.vm.controller.tickets;

import java.time.Duration;

/** What becomes of a ticket. Each may come twice, and an old one late. */
public sealed interface WorkerEvent {
    String ticket();

    /**
     * The site has given nodes.
     *
     * @param slots one worker VM each
     */
    record Allocated(String ticket, int slots) implements WorkerEvent {}

    /** A slot has gone through a phase. */
    record Passed(String ticket, int slot, WorkerPhase phase, Duration took) implements WorkerEvent {}

    /**
     * A slot's slurmd runs; Slurm knows the node, or is about to.
     *
     * @param node its name in the Local Slurm
     */
    record NodeReady(String ticket, int slot, String node) implements WorkerEvent {}

    /** A slot's VM has gone while its ticket goes on. */
    record NodeGone(String ticket, int slot, EndReason reason) implements WorkerEvent {}

    /** Nothing was given and nothing will be. */
    record Refused(String ticket, EndReason reason) implements WorkerEvent {}

    /** Nothing is left of the ticket; after this nothing is heard of it. */
    record Ended(String ticket, EndReason reason) implements WorkerEvent {}

    /**
     * Why, for the job's owner.
     *
     * @param phase in which it happened
     * @param code a word such as {@code quota}; {@code none} of an end as it should be
     * @param text what happened, both values; without a ticket's or host's secrets
     * @param hint what to do; empty if nothing
     * @param retryable whether trying again may help
     */
    record EndReason(WorkerPhase phase, String code, String text, String hint, boolean retryable) {
        public static final EndReason NONE = new EndReason(WorkerPhase.TEARDOWN, "none", "ended", "", true);
    }
}
