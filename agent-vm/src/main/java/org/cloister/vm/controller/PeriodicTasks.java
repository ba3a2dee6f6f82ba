package org.cloister.vm.controller;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is done again and again: one that throws is said, and keeps neither the others nor itself from the next time. A timer would
 * forget it all without a word.
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
                LOG.error("what comes again has failed, and is done again: a defect", e);
            }
        }
    }
}
