package org.cloister.daemon;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the watchdog that a unit's {@code WatchdogSec} sets (sd_watchdog_enabled(3)), as long as the daemon's event
 * loops and a probe of its locks answer. A daemon whose threads wait for each other sends nothing, and systemd restarts
 * it.
 */
public final class SystemdWatchdog {
    private static final Logger LOG = LoggerFactory.getLogger(SystemdWatchdog.class);
    /** Notifications in one interval of systemd's: one may be lost, and one late. */
    private static final int PARTS = 3;

    private static final long NANOS_PER_MICRO = 1000;

    private SystemdWatchdog() {}

    /**
     * Starts the notifications, if systemd wants any; they end with the process.
     *
     * @param notifier sends them
     * @param loops that each run what is given to them, if the daemon works
     * @param probe returns if the daemon works; it may block for ever otherwise
     */
    public static void start(SystemdNotifier notifier, Iterable<? extends Executor> loops, Runnable probe) {
        period(System.getenv(), ProcessHandle.current().pid()).ifPresent(period -> {
            ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
                Thread daemon = new Thread(work, "watchdog");
                daemon.setDaemon(true);
                return daemon;
            });
            Future<?> unused = thread.scheduleWithFixedDelay(
                    () -> check(notifier, loops, probe), 0, period.toMillis(), TimeUnit.MILLISECONDS);
        });
    }

    private static void check(SystemdNotifier notifier, Iterable<? extends Executor> loops, Runnable probe) {
        loops.forEach(loop -> CompletableFuture.runAsync(() -> {}, loop).join());
        CompletableFuture<?> unused = CompletableFuture.runAsync(probe, Runnable::run)
                .whenComplete((done, failure) -> {
                    if (failure == null) {
                        notifier.notifyAlive();
                    } else {
                        LOG.warn("watchdog: not notified, the status cannot be read", failure);
                    }
                });
    }

    /** Returns the interval of notifications; empty if systemd wants none of this process. */
    static Optional<Duration> period(Map<String, String> environment, long pid) {
        String limit = environment.getOrDefault("WATCHDOG_USEC", "");
        String process = environment.getOrDefault("WATCHDOG_PID", Long.toString(pid));
        if (!limit.matches("[1-9][0-9]{0,14}") || !process.equals(Long.toString(pid))) {
            return Optional.empty();
        }
        return Optional.of(Duration.ofNanos(Long.parseLong(limit) * NANOS_PER_MICRO / PARTS));
    }
}
