package org.cloister.vm.queue;

import java.time.Duration;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/** Hears what the queue's metrics count. From one thread; no call may block or fail. */
public interface Timings {
    /** A ticket is asked for. */
    void asked();

    /** @param took from the ticket's asking until its job was seen running */
    void started(Duration took);

    /** An attempt failed, in {@code phase}. */
    void failed(Phase phase);

    /** As {@link #failed(Phase)}, for whoever counts failures by their code, too. */
    default void failed(Trouble trouble) {
        failed(trouble.phase());
    }

    /** A ticket went through a phase, its slowest slot in {@code took}. */
    void passed(Phase phase, Duration took);

    /** The Local Slurm was asked how its jobs and nodes are. */
    void looked(Duration took);

    /** The Local Slurm gave no answer. */
    void silent();

    /**
     * How it stands after a look.
     *
     * @param tickets of which something may be left
     * @param waiting jobs
     */
    void standing(int tickets, int waiting);
}
