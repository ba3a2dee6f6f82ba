package org.cloister.daemon;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/**
 * The watchdog that a unit's {@code WatchdogSec} sets (sd_watchdog_enabled(3)): as long as the daemon's event loops and
 * a probe of its locks answer, systemd is told so. A daemon whose threads wait for each other is silent, and systemd
 * restarts it.
 */
public final class SystemdWatchdog {
    /** Notifications in one interval of systemd's: one may be lost, and one late. */
    private static final int PARTS = 3;

    private static final long NANOS_PER_MICRO = 1000;

    private SystemdWatchdog() {}

    /**
     * Starts the notifications, if systemd wants any; they end with the process.
     *
     * @param loops that each run what is given to them, if the daemon works
     * @param probe returns if the daemon works; it may block for ever otherwise
     */
    public static void start(Iterable<? extends Executor> loops, Runnable probe) {
        period(System.getenv(), ProcessHandle.current().pid()).ifPresent(period -> {
            Thread thread = new Thread(() -> run(loops, probe, period), "watchdog");
            thread.setDaemon(true);
            thread.start();
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

    private static void run(Iterable<? extends Executor> loops, Runnable probe, Duration period) {
        try {
            while (true) {
                for (Executor loop : loops) {
                    CountDownLatch answered = new CountDownLatch(1);
                    loop.execute(answered::countDown);
                    answered.await();
                }
                probe.run();
                SystemdNotifier.notifyAlive();
                Thread.sleep(period.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
