package org.cloister.ovs;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
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
    /** More than the begin of a line that tells what was removed, and of which table. */
    private static final int MAX_LINE = 1024;

    private static final String REMOVED = "delete ";

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
        // Of all events: "nft monitor destroy" is a syntax error for 1.1, which has a command of that name.
        this.command = Stream.concat(nft.stream(), Stream.of("monitor")).toList();
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

    /** Reads to the end, a line for each event. */
    private void report(InputStream events) throws IOException {
        InputStream buffered = new BufferedInputStream(events);
        StringBuilder line = new StringBuilder();
        for (int next = buffered.read(); next >= 0; next = buffered.read()) {
            if (next == '\n') {
                if (isRemoval(line.toString(), table)) {
                    onRemoval.run();
                }
                line.setLength(0);
            } else if (line.length() < MAX_LINE) {
                line.append((char) next);
            }
        }
    }

    /** Returns whether something of the table was removed: a rule, a chain, a set, or the table. */
    static boolean isRemoval(String event, String table) {
        return event.startsWith(REMOVED) && List.of(event.split(" ", -1)).contains(table);
    }
}
