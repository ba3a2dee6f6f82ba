package org.cloister.vm.controller;

import java.io.IOException;
import java.nio.file.Files;
import java.time.InstantSource;
import java.util.function.Consumer;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.queue.QueueController;
import org.cloister.vm.controller.queue.QueueJournal;
import org.cloister.vm.controller.queue.QueueMetrics;
import org.cloister.vm.controller.slurm.LocalSlurmCommands;
import org.cloister.vm.controller.status.JobStatusFiles;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.rpcfilter.FilterStateFile;

/** The queue controller of the Local Slurm as configured, with its job statuses. */
public final class LocalQueue implements AutoCloseable {
    private final QueueController controller;

    private LocalQueue(
            ControllerConfig config,
            WorkerAllocator workers,
            QueueJournal journal,
            QueueMetrics metrics,
            Consumer<RuntimeException> broken) {
        this.controller = new QueueController(
                config.settings(),
                new LocalSlurmCommands(config.slurm().program()),
                workers,
                journal,
                new JobStatusFiles(config.statusFolder(), InstantSource.system()),
                metrics,
                InstantSource.system(),
                config.notifyFile(),
                new FilterStateFile(config.filterStateFile())::isRunning,
                broken);
    }

    /** Opens the queue's journal, which names the owner of each ticket's job. */
    public static QueueJournal openJournal(ControllerConfig config) throws IOException {
        Files.createDirectories(config.state());
        return QueueJournal.open(config.state().resolve("ledger"));
    }

    /**
     * Starts the queue; continues where an earlier one was closed or killed.
     *
     * @param workers closed by the caller, after this queue, as is the journal
     * @param broken called once when the queue has stopped working; the process must then end
     */
    public static LocalQueue start(
            ControllerConfig config,
            WorkerAllocator workers,
            QueueJournal journal,
            QueueMetrics metrics,
            Consumer<RuntimeException> broken)
            throws IOException {
        Files.createDirectories(config.run());
        LocalQueue queue = new LocalQueue(config, workers, journal, metrics, broken);
        boolean started = false;
        try {
            queue.controller.start();
            started = true;
            return queue;
        } finally {
            if (!started) {
                queue.close();
            }
        }
    }

    /** Stops the queue; running jobs continue. */
    @Override
    public void close() {
        controller.close();
    }
}
