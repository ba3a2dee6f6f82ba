package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;

/**
 * The processes of a session: sshd, and those that it started. When the session's circuit has closed, sshd has a few
 * seconds to end by itself; the processes that it started get SIGHUP, as from a terminal that hangs up. Processes that
 * left the session before (setsid, nohup) continue.
 */
final class SshSessionProcesses {
    private static final Duration END_LIMIT = Duration.ofSeconds(5);
    /** Ignores processes that have ended meanwhile. */
    private static final List<String> COMMAND = List.of("/bin/sh", "-c", "kill -HUP \"$@\" || :", "sh");

    private final ProcessRunner programs;
    private final List<ProcessHandle> daemons = new ArrayList<>();
    private final List<ProcessHandle> users = new ArrayList<>();
    /** PIDs of the session leaders, which sshd started. */
    private final Set<Long> sessions = new HashSet<>();

    private SshSessionProcesses(ProcessRunner programs, ProcessHandle sshd) {
        this.programs = programs;
        daemons.add(sshd);
        for (ProcessHandle each : sshd.descendants().toList()) {
            (isSshd(each) ? daemons : users).add(each);
        }
        users.stream()
                .filter(each -> each.parent().filter(daemons::contains).isPresent())
                .forEach(each -> sessions.add(each.pid()));
    }

    /**
     * Returns the processes that run now: when sshd has ended, its children can no longer be attributed to it.
     *
     * @param file in which the session's script wrote its PID
     * @return empty if it has not, or the process has ended
     */
    static Optional<SshSessionProcesses> of(ProcessRunner programs, Path file) throws IOException {
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        String pid = Files.readString(file, StandardCharsets.US_ASCII).strip();
        try {
            return ProcessHandle.of(Long.parseLong(pid)).map(handle -> new SshSessionProcesses(programs, handle));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Stops the processes; blocks for a few seconds at most. The input of sshd has ended before. */
    void stop() throws IOException {
        await(daemons);
        daemons.forEach(ProcessHandle::destroyForcibly);
        List<String> hangUp = new ArrayList<>(COMMAND);
        for (ProcessHandle each : users) {
            if (each.isAlive() && sessions.contains(session(each))) {
                hangUp.add(String.valueOf(each.pid()));
            }
        }
        if (hangUp.size() > COMMAND.size()) {
            programs.run("", hangUp, END_LIMIT);
        }
    }

    private static void await(List<ProcessHandle> all) {
        CompletableFuture.allOf(all.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    private static boolean isSshd(ProcessHandle process) {
        try {
            // sshd, and sshd-session and sshd-auth since 9.8; a user's program with such a name is killed instead of
            // hung up.
            return Files.readString(Path.of("/proc", String.valueOf(process.pid()), "comm"))
                    .startsWith("sshd");
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the leader of the process's session, or 0 if the process has ended. */
    private static long session(ProcessHandle process) {
        try {
            String stat = Files.readString(
                    Path.of("/proc", String.valueOf(process.pid()), "stat"), StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return Long.parseLong(fields[3]);
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }
}
