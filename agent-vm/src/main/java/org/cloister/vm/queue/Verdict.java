package org.cloister.vm.queue;

import java.util.Optional;
import java.util.Set;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/** What becomes of an open ticket now. */
sealed interface Verdict {
    /** Nothing, until something happens. */
    record Wait() implements Verdict {}

    /** All its nodes are idle and its job waits for nothing else. */
    record Ready() implements Verdict {}

    /**
     * Its job runs on it.
     *
     * @param lost nodes whose VM has gone, which Slurm does not know
     * @param ending whether the epilogs run: its nodes take no other job
     */
    record Runs(Set<String> lost, boolean ending) implements Verdict {}

    /**
     * It is closed; its job, if it goes on, gets another.
     *
     * @param unplace whether its job must first be taken off it
     * @param failure if it counts as one
     */
    record GiveUp(boolean unplace, Entry.Stage how, Optional<Trouble> failure) implements Verdict {}
}
