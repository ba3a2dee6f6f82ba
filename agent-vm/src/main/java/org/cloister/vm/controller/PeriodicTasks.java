package org.cloister.vm.controller;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tasks that run periodically. A task that throws is logged; the other tasks run, and so does this one the next time.
 * An executor would silently stop repeating it.
 */
record PeriodicTasks(List<Runnable> tasks) implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(PeriodicTasks.class);

    PeriodicTasks {
        tasks = List.copyOf(tasks);
    }

    @Override
    public void run() {
        for (Runnable task : tasks) {
            try {
                task.run();
            } catch (RuntimeException e) {
                LOG.error("a periodic task failed; it is a defect, and the task runs again", e);
            }
        }
    }
}
