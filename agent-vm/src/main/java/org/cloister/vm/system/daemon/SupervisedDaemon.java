package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.handover.LoginRules;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A third-party daemon that is kept running. A variable in its environment identifies it, so that a restarted agent
 * finds the process that a killed one had started, and no record of it can be stale. Its logs have a bound
 * ({@link LogSizeLimit}) while it is supervised. Thread-safe.
 */
public final class SupervisedDaemon {
    private static final Logger LOG = LoggerFactory.getLogger(SupervisedDaemon.class);
    private static final String MARK = "CLOISTER_DAEMON";
    private static final long END_LIMIT_S = 5;
    /** Seconds between two checks of the logs' sizes. */
    private static final long LOG_CHECK_S = 5;

    private static final ScheduledExecutorService LOGS = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "logs");
        thread.setDaemon(true);
        return thread;
    });

    /** Delays a restart, so that a daemon that cannot start does not use up the machine. */
    private static final Executor RESTART_DELAY = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS);

    private final ProcessRunner programs;
    private final String name;
    private final List<String> command;
    private final Map<String, String> environment;
    private final Path log;
    private final List<Path> logs;
    private boolean supervised;
    private Future<?> logCheck = CompletableFuture.completedFuture(null);

    /**
     * Describes a daemon.
     *
     * @param name identifies it on this machine, such as {@code charon}
     * @param command runs it in the foreground
     * @param log receives its output
     * @param otherLogs log files to which it appends itself
     */
    public SupervisedDaemon(
            ProcessRunner programs,
            String name,
            List<String> command,
            Map<String, String> environment,
            Path log,
            Path... otherLogs) {
        this.programs = programs;
        this.name = name;
        this.command = List.copyOf(command);
        this.environment = new HashMap<>(environment);
        this.environment.put(MARK, name);
        this.log = log;
        this.logs = Stream.concat(Stream.of(log), Stream.of(otherLogs)).toList();
    }

    /** Starts the daemon, and restarts it whenever it ends. Adopts a process that runs already. */
    public synchronized void start() throws IOException {
        if (supervised) {
            return;
        }
        supervised = true;
        logCheck.cancel(false);
        logCheck = LOGS.scheduleWithFixedDelay(this::enforceLogSizes, LOG_CHECK_S, LOG_CHECK_S, TimeUnit.SECONDS);
        run();
    }

    /** Stops supervising the daemon; it continues to run, for the next agent process. */
    public synchronized void detach() {
        supervised = false;
        logCheck.cancel(false);
    }

    /** Stops the daemon and waits for its end: sends SIGTERM and, after some seconds, SIGKILL. */
    public void stop() throws IOException {
        detach();
        signalAndAwait(ProcessHandle::destroy);
        signalAndAwait(ProcessHandle::destroyForcibly);
        if (!processes().isEmpty()) {
            throw new IOException(name + ": process " + processes().get(0).pid()
                    + " cannot be stopped; see what holds it in the kernel");
        }
    }

    /** Returns the daemon's present processes. */
    public List<ProcessHandle> processes() {
        return ProcessHandle.allProcesses().filter(this::isOurs).toList();
    }

    private void run() throws IOException {
        List<ProcessHandle> found = processes();
        ProcessHandle process =
                found.isEmpty() ? programs.start(command, environment, log).toHandle() : found.get(0);
        restartAfter(process.onExit());
    }

    private void enforceLogSizes() {
        for (Path each : logs) {
            try {
                LogSizeLimit.enforce(each);
            } catch (IOException e) {
                LOG.warn("daemon={} log={} cannot be truncated: {}", name, each, e.getMessage());
            }
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the future's stages handle its end
    private void restartAfter(CompletableFuture<?> end) {
        end.thenRunAsync(this::restart, RESTART_DELAY);
    }

    private synchronized void restart() {
        if (supervised) {
            LOG.warn("daemon={} ended and is restarted; read {}", name, log);
            try {
                run();
            } catch (IOException e) {
                LOG.error("daemon={} cannot be started: {}", name, e.getMessage());
                restartAfter(CompletableFuture.completedFuture(name));
            }
        }
    }

    private void signalAndAwait(Consumer<ProcessHandle> signal) {
        List<ProcessHandle> all = processes();
        all.forEach(signal);
        CompletableFuture<?>[] ends = all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(ends)
                .completeOnTimeout(null, END_LIMIT_S, TimeUnit.SECONDS)
                .join();
    }

    private boolean isOurs(ProcessHandle process) {
        Path at = Path.of("/proc", Long.toString(process.pid()));
        try {
            // Any user may put the variable into an environment of their own. A daemon that dropped root has a system
            // account of its own, and no person has one of those.
            int uid = uid(at);
            if (uid != uid(Path.of("/proc/self")) && uid >= LoginRules.LEAST_ID) {
                return false;
            }
            byte[] bytes = Files.readAllBytes(at.resolve("environ"));
            return Arrays.asList(new String(bytes, StandardCharsets.ISO_8859_1).split("\0", -1))
                    .contains(MARK + "=" + name);
        } catch (IOException e) {
            // The process has ended, or belongs to another user, which the daemon's do not.
            return false;
        }
    }

    private static int uid(Path process) throws IOException {
        return (Integer) Files.getAttribute(process, "unix:uid");
    }
}
