package org.cloister.vm.system;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Finds and kills what a job has left running in its VM: all processes of members, and slurmd's own processes for the
 * job's steps.
 */
public final class JobProcesses {
    private static final Path PROC = Path.of("/proc");
    /** slurmd's process for each step, which runs as root. */
    private static final String STEP = "slurmstepd";

    private static final int MAX_PASSES = 50;
    private static final long PAUSE_MS = 100;
    /**
     * Time after which killing stops if all remaining processes are ones that a signal does not reach: further signals
     * change nothing.
     */
    private static final Duration STUCK = Duration.ofSeconds(2);

    private static final String ENDED = "Z";
    private static final String UNINTERRUPTIBLE = "D";

    private final int minUid;
    private final int maxUid;
    private final String step;

    /**
     * Creates the finder.
     *
     * @param minUid lowest uid of members; daemons have uids below and above the range
     */
    public JobProcesses(int minUid, int maxUid) {
        this(minUid, maxUid, STEP);
    }

    /**
     * Creates the finder.
     *
     * @param step name of root's processes that are killed, too
     */
    JobProcesses(int minUid, int maxUid, String step) {
        this.minUid = minUid;
        this.maxUid = maxUid;
        this.step = step;
    }

    /**
     * Kills until no process is left, since each may create others in between.
     *
     * @throws IOException if one remains, such as one blocked in the kernel
     */
    public void killAll() throws IOException {
        List<Remaining> remaining = running();
        long killableNs = System.nanoTime();
        for (int pass = 0; pass < MAX_PASSES && !remaining.isEmpty(); pass++) {
            if (!remaining.stream().allMatch(Remaining::stuck)) {
                killableNs = System.nanoTime();
            } else if (System.nanoTime() - killableNs > STUCK.toNanos()) {
                break;
            }
            remaining.forEach(each -> each.process().destroyForcibly());
            pause();
            remaining = running();
        }
        if (!remaining.isEmpty()) {
            throw new IOException("processes of the job cannot be killed: "
                    + remaining.stream().map(each -> each.process().pid()).toList()
                    + "; see what holds them in the kernel");
        }
    }

    /**
     * A process of the job.
     *
     * @param stuck blocked in the kernel, where signals wait
     */
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
            boolean ofJob = (uid >= minUid && uid <= maxUid)
                    || (uid == 0 && field(status, "Name").equals(step));
            return ofJob && !state.startsWith(ENDED)
                    ? Optional.of(new Remaining(process, state.startsWith(UNINTERRUPTIBLE)))
                    : Optional.empty();
        } catch (IOException e) {
            // The process has ended.
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
