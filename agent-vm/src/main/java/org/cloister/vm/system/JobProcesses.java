package org.cloister.vm.system;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What a job has left running in its VM: all that runs as a member, and slurmd's own processes for the job's steps. */
public final class JobProcesses {
    private static final Path PROC = Path.of("/proc");
    /** Of slurmd, for each step; root's. */
    private static final String STEP = "slurmstepd";

    private static final int ROUNDS = 50;
    private static final long PAUSE_MS = 100;
    /** For as long nothing was left but what a signal does not reach: to go on changes nothing. */
    private static final Duration STUCK = Duration.ofSeconds(2);

    private static final String ENDED = "Z";
    private static final String UNINTERRUPTIBLE = "D";

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
    public void killAll() throws IOException {
        List<Remaining> left = running();
        long killable = System.nanoTime();
        for (int round = 0; round < ROUNDS && !left.isEmpty(); round++) {
            if (!left.stream().allMatch(Remaining::stuck)) {
                killable = System.nanoTime();
            } else if (System.nanoTime() - killable > STUCK.toNanos()) {
                break;
            }
            left.forEach(each -> each.process().destroyForcibly());
            pause();
            left = running();
        }
        if (!left.isEmpty()) {
            throw new IOException("processes of the job: want none, have "
                    + left.stream().map(each -> each.process().pid()).toList() + "; see what holds them in the kernel");
        }
    }

    /** @param stuck in the kernel, where signals wait */
    record Remaining(ProcessHandle process, boolean stuck) {}

    List<Remaining> running() {
        long own = ProcessHandle.current().pid();
        return ProcessHandle.allProcesses()
                .filter(process -> process.pid() != own)
                .flatMap(process -> ofJob(process).stream())
                .toList();
    }

    private Optional<Remaining> ofJob(ProcessHandle process) {
        try {
            String status = Files.readString(
                    PROC.resolve(Long.toString(process.pid())).resolve("status"), StandardCharsets.ISO_8859_1);
            String state = field(status, "State");
            int uid = Integer.parseInt(field(status, "Uid").split("\\s+", 2)[0]);
            boolean jobs = (uid >= leastUid && uid <= mostUid)
                    || (uid == 0 && field(status, "Name").equals(step));
            return jobs && !state.startsWith(ENDED)
                    ? Optional.of(new Remaining(process, state.startsWith(UNINTERRUPTIBLE)))
                    : Optional.empty();
        } catch (IOException e) {
            // It has ended.
            return Optional.empty();
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
