package org.cloister.vm.worker;

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
    record Passed(String ticket, int slot, Phase phase, Duration took) implements WorkerEvent {}

    /**
     * A slot's slurmd runs; Slurm knows the node, or is about to.
     *
     * @param node its name in the Local Slurm
     */
    record NodeReady(String ticket, int slot, String node) implements WorkerEvent {}

    /** A slot's VM has gone while its ticket goes on. */
    record NodeGone(String ticket, int slot, Trouble trouble) implements WorkerEvent {}

    /** Nothing was given and nothing will be. */
    record Refused(String ticket, Trouble trouble) implements WorkerEvent {}

    /** Nothing is left of the ticket; after this nothing is heard of it. */
    record Ended(String ticket, Trouble trouble) implements WorkerEvent {}

    /**
     * Why, for the job's owner.
     *
     * @param phase in which it happened
     * @param code a word such as {@code quota}; {@code none} of an end as it should be
     * @param text what happened, both values; without a ticket's or host's secrets
     * @param hint what to do; empty if nothing
     * @param passing whether trying again may help
     */
    record Trouble(Phase phase, String code, String text, String hint, boolean passing) {
        public static final Trouble NONE = new Trouble(Phase.TEARDOWN, "none", "ended", "", true);
    }
}
