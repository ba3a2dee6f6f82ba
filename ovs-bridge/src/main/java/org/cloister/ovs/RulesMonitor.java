package org.cloister.ovs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watch over tables of nftables: the kernel tells {@code nft monitor} at once of what anybody removes. What happens
 * while no such program runs goes unseen, so its reader checks the tables from time to time as well.
 */
final class RulesMonitor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SecureBridge.class);
    private static final Duration RETRY = Duration.ofSeconds(10);
    private static final int CHUNK_BYTES = 4096;

    private final List<String> command;
    private final String table;
    private final Runnable onRemoval;
    private final Thread thread;
    private final CountDownLatch closing = new CountDownLatch(1);
    private @Nullable Process process;

    /**
     * @param nft the program, with the command before it that enters another network namespace if there is one
     * @param table name of the watched tables, in whatever family
     * @param onRemoval called on a thread of its own after something of the tables was removed, by ourselves as well
     */
    RulesMonitor(List<String> nft, String table, Runnable onRemoval) {
        this.command =
                Stream.concat(nft.stream(), Stream.of("monitor", "destroy")).toList();
        this.table = table;
        this.onRemoval = onRemoval;
        this.thread = new Thread(this::run, table + "-monitor");
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    @Override
    public void close() {
        closing.countDown();
        synchronized (this) {
            if (process != null) {
                process.destroyForcibly();
            }
        }
    }

    private void run() {
        try {
            do {
                watch();
            } while (!closing.await(RETRY.toSeconds(), TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch() {
        try {
            Process started = startUnlessClosed();
            if (started == null) {
                return;
            }
            try (InputStream removals = started.getInputStream()) {
                report(removals);
            } finally {
                started.destroyForcibly();
            }
            LOG.debug("shield table={} monitor ended, started again in {} s", table, RETRY.toSeconds());
        } catch (IOException e) {
            LOG.debug("shield table={} is not monitored: {}", table, e.getMessage());
        }
    }

    private synchronized @Nullable Process startUnlessClosed() throws IOException {
        if (closing.getCount() == 0) {
            return null;
        }
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        process = builder.start();
        return process;
    }

    /** Reads to the end. It keeps the end of what was read, which may have the first letters of a name. */
    private void report(InputStream removals) throws IOException {
        byte[] chunk = new byte[CHUNK_BYTES];
        String read = "";
        int length = removals.read(chunk);
        while (length > 0) {
            read += new String(chunk, 0, length, StandardCharsets.ISO_8859_1);
            if (read.contains(table)) {
                onRemoval.run();
                read = "";
            }
            read = read.substring(Math.max(0, read.length() - table.length()));
            length = removals.read(chunk);
        }
    }
}
