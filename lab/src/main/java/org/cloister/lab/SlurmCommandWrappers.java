package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A folder of Slurm's commands that enter the site's machine, for processes outside; sbatch can be made to misbehave.
 */
public final class SlurmCommandWrappers {
    private static final List<String> CLIENTS =
            List.of("squeue", "sacct", "scancel", "scontrol", "sacctmgr", "sinfo", "id");

    private static final String RUNS = "sbatch.runs";

    private final LabMachine site;
    private final Path folder;

    /** Behaviour of sbatch. */
    public enum SbatchBehaviour {
        AT_ONCE,
        /** Takes two seconds to enqueue, and enqueues although its caller no longer waits. */
        SLOW,
        /** Enqueues and then does not end. */
        ENQUEUED_AND_LATE,
        /** Enqueues and then reports that the result is unknown. */
        ENQUEUED_AND_FAILED,
        /** Reports the same and has enqueued nothing. */
        FAILED
    }

    private SlurmCommandWrappers(LabMachine site, Path folder) {
        this.site = site;
        this.folder = folder;
    }

    public static SlurmCommandWrappers install(LabMachine site) throws IOException {
        SlurmCommandWrappers programs = new SlurmCommandWrappers(site, site.folder("slurm-programs"));
        for (String client : CLIENTS) {
            programs.write(client, "exec " + programs.real(client));
        }
        // Called in a job's script, on a host.
        programs.write("srun", "exec /usr/bin/srun \"$@\"");
        programs.sbatch(SbatchBehaviour.AT_ONCE);
        return programs;
    }

    public Path folder() {
        return folder;
    }

    public void sbatch(SbatchBehaviour answer) throws IOException {
        String enqueue = real("sbatch");
        String run = "echo run >>" + folder.resolve(RUNS) + "\n";
        String failed =
                "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2;"
                        + " exit 1";
        write(
                "sbatch",
                run
                        + switch (answer) {
                            case AT_ONCE -> "exec " + enqueue;
                            case SLOW -> "sleep 2\nexec " + enqueue;
                            case ENQUEUED_AND_LATE -> enqueue + " >/dev/null\nsleep 3600";
                            case ENQUEUED_AND_FAILED -> enqueue + " >/dev/null\n" + failed;
                            case FAILED -> failed;
                        });
    }

    /** Returns how often sbatch was run. */
    public int submissions() throws IOException {
        Path runs = folder.resolve(RUNS);
        return Files.exists(runs) ? Files.readAllLines(runs).size() : 0;
    }

    private String real(String client) {
        return String.join(" ", site.command("/usr/bin/" + client).argv()) + " \"$@\"";
    }

    /** Writes a script atomically: another thread may be about to run it. */
    private void write(String name, String body) throws IOException {
        Path next = folder.resolve("." + name);
        Files.writeString(next, "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
