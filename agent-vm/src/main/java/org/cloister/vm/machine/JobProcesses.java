package org.cloister.vm.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What a job has left running in its VM: all that runs as a member, and slurmd's own processes for the job's steps. */
public final class JobProcesses {
    private static final Path PROC = Path.of("/proc");
    /** Of slurmd, for each step; root's. */
    private static final String STEP = "slurmstepd";

    private static final int ROUNDS = 50;
    /** In which nothing is left but what a signal does not reach: more of them change nothing. */
    private static final int STUCK_ROUNDS = 10;

    private static final String UNINTERRUPTIBLE = "D";
    private static final long PAUSE_MS = 100;

    private final int leastUid;
    private final int mostUid;
    private final String step;

    /** @param leastUid of members; daemons have numbers below and above */
    public JobProcesses(int leastUid, int mostUid) {
        this(leastUid, mostUid, STEP);
    }

    /** @param step the name of root's processes that go, too */
    JobProcesses(int leastUid, int mostUid, String step) {
        this.leastUid = leastUid;
        this.mostUid = mostUid;
        this.step = step;
    }

    /**
     * Kills until none is left: each may make others in between.
     *
     * @throws IOException if one stays, as in the kernel's hands
     */
    public void end() throws IOException {
        int stuck = 0;
        for (int round = 0; round < ROUNDS && stuck < STUCK_ROUNDS; round++) {
            List<ProcessHandle> left = running();
            if (left.isEmpty()) {
                return;
            }
            stuck = left.stream().allMatch(JobProcesses::isStuck) ? stuck + 1 : 0;
            left.forEach(ProcessHandle::destroyForcibly);
            pause();
        }
        List<ProcessHandle> left = running();
        if (!left.isEmpty()) {
            throw new IOException("processes of the job: want none, have "
                    + left.stream().map(ProcessHandle::pid).toList() + "; see what holds them in the kernel");
        }
    }

    List<ProcessHandle> running() {
        long own = ProcessHandle.current().pid();
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != own && isJobs(PROC.resolve(Long.toString(process.pid()))))
                .toList();
    }

    private boolean isJobs(Path process) {
        try {
            String status = Files.readString(process.resolve("status"), StandardCharsets.ISO_8859_1);
            if (field(status, "State").startsWith("Z")) {
                return false;
            }
            int uid = Integer.parseInt(field(status, "Uid").split("\\s+", 2)[0]);
            return (uid >= leastUid && uid <= mostUid)
                    || (uid == 0 && field(status, "Name").equals(step));
        } catch (IOException e) {
            // It has ended.
            return false;
        }
    }

    private static boolean isStuck(ProcessHandle process) {
        try {
            Path status = PROC.resolve(Long.toString(process.pid())).resolve("status");
            return field(Files.readString(status, StandardCharsets.ISO_8859_1), "State")
                    .startsWith(UNINTERRUPTIBLE);
        } catch (IOException e) {
            // It has ended.
            return false;
        }
    }

    private static String field(String status, String name) {
        return status.lines()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse("0");
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("processes of the job: interrupted", e);
        }
    }
}
