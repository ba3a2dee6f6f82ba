package org.cloister.vm.controller;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.OptionalInt;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.queue.QueueController;
import org.cloister.vm.controller.queue.QueueJournal;
import org.cloister.vm.controller.slurm.ClientSlurmConf;
import org.cloister.vm.controller.slurm.LocalSlurmCommands;
import org.cloister.vm.controller.status.JobStatusFiles;
import org.cloister.vm.controller.tickets.WorkerAllocator;
import org.cloister.vm.metrics.MetricsFile;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.rpcfilter.FilterStateFile;

/** The Local Slurm's controller as its configuration wants it, with the ledger, statuses and metrics that it keeps. */
public final class QueueService implements AutoCloseable {
    private static final long METRICS_S = 10;
    /** Slurm's own default, as distributions build it. */
    private static final Path SLURM_CONF = Path.of("/etc/slurm/slurm.conf");

    private final QueueJournal ledger;
    private final QueueController controller;
    private final VmMetrics metrics;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "metrics");
        thread.setDaemon(true);
        return thread;
    });

    private QueueService(
            ControllerConfig config,
            WorkerAllocator workers,
            QueueJournal ledger,
            VmMetrics metrics,
            Consumer<RuntimeException> broken) {
        this.ledger = ledger;
        this.metrics = metrics;
        this.controller = new QueueController(
                config.settings(),
                new LocalSlurmCommands(config.slurm().program(), clients(config)::writeNodes),
                workers,
                ledger,
                new JobStatusFiles(config.statusFolder(), InstantSource.system()),
                metrics,
                InstantSource.system(),
                config.notifyFile(),
                new FilterStateFile(config.filterStateFile())::isRunning,
                broken);
    }

    /**
     * Goes on where an earlier one was closed or killed.
     *
     * @param workers stay the caller's to close, after this
     * @param broken hears, once, that nothing is done any more; the process is to end
     */
    public static QueueService start(
            ControllerConfig config, WorkerAllocator workers, Consumer<RuntimeException> broken) throws IOException {
        VmMetrics metrics = new VmMetrics();
        QueueService queue = start(config, workers, metrics, broken);
        config.metrics().ifPresent(queue::keepMetrics);
        return queue;
    }

    /**
     * The same.
     *
     * @param metrics that somebody else writes down
     */
    public static QueueService start(
            ControllerConfig config, WorkerAllocator workers, VmMetrics metrics, Consumer<RuntimeException> broken)
            throws IOException {
        Files.createDirectories(config.state());
        Files.createDirectories(config.run());
        QueueService queue = new QueueService(
                config, workers, QueueJournal.open(config.state().resolve("ledger")), metrics, broken);
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

    /** The uid of whose job a ticket is for; empty if the queue has no such ticket. Any thread may ask. */
    public OptionalInt ownerOf(String ticket) {
        return ledger.ownerOf(ticket);
    }

    private static ClientSlurmConf clients(ControllerConfig config) {
        return new ClientSlurmConf(
                config.clientSlurmConf(), config.slurm().configuration().orElse(SLURM_CONF));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what fails is said where it fails
    private void keepMetrics(Path path) {
        MetricsFile file = new MetricsFile(path);
        clock.scheduleWithFixedDelay(() -> file.write(metrics), 0, METRICS_S, TimeUnit.SECONDS);
    }

    /** What runs goes on running. */
    @Override
    public void close() throws IOException {
        clock.shutdownNow();
        controller.close();
        ledger.close();
    }
}
