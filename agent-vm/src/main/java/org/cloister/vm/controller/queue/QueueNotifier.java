package org.cloister.vm.controller.queue;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a file in memory that Slurm's plugins write to when jobs are submitted, change or end. Its content does not
 * matter: a missed notification costs the delay of one poll.
 */
final class QueueNotifier implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QueueNotifier.class);
    /** Limit after which the file is emptied; its content is not read. */
    private static final long MAX_BYTES = 1 << 20;

    private final Path file;
    private final WatchService watch;
    private final Runnable onNotification;

    private QueueNotifier(Path file, WatchService watch, Runnable onNotification) {
        this.file = file;
        this.watch = watch;
        this.onNotification = onNotification;
    }

    /** @param onNotification called on the notifier's own thread */
    static QueueNotifier watch(Path file, Runnable onNotification) throws IOException {
        try {
            // If slurmctld has an account of its own, the file was created for that before.
            Files.createFile(file);
        } catch (FileAlreadyExistsException e) {
            LOG.debug("the notify file exists", e);
        }
        Path folder = file.resolveSibling(".");
        WatchService watch = file.getFileSystem().newWatchService();
        folder.register(watch, StandardWatchEventKinds.ENTRY_MODIFY, StandardWatchEventKinds.ENTRY_CREATE);
        QueueNotifier notifier = new QueueNotifier(file, watch, onNotification);
        Thread thread = new Thread(notifier::run, "bell");
        thread.setDaemon(true);
        thread.start();
        return notifier;
    }

    private void run() {
        try {
            while (true) {
                WatchKey key = watch.take();
                boolean ours = false;
                for (WatchEvent<?> event : key.pollEvents()) {
                    ours |= event.kind() == StandardWatchEventKinds.OVERFLOW
                            || file.getFileName().equals(event.context());
                }
                if (ours) {
                    truncate();
                    onNotification.run();
                }
                if (!key.reset()) {
                    LOG.warn("the notify file's folder was deleted file={}; Slurm is polled by the clock alone", file);
                    return;
                }
            }
        } catch (ClosedWatchServiceException e) {
            LOG.debug("the notify file is no longer watched", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void truncate() {
        try {
            if (Files.size(file) > MAX_BYTES) {
                Files.newByteChannel(file, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
                        .close();
            }
        } catch (IOException e) {
            LOG.warn("the notify file cannot be truncated file={} reason=\"{}\"", file, e.getMessage());
        }
    }

    @Override
    public void close() throws IOException {
        watch.close();
    }
}
