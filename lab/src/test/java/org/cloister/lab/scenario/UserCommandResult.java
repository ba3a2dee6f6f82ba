package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.lab.LabCommand;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.LabCluster;

/**
 * Output of a user's script on a cluster.
 *
 * @param text output and errors as they came, without what names a cluster, a node or a job
 */
record UserCommandResult(int exit, String text) {
    /** After them a case has not ended, with exit code 124 and what it said until then. */
    private static final String SECONDS = "210";

    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final Pattern JOB = Pattern.compile("\\b(job|allocation|jobid=|StepId=)( ?)[1-9][0-9]*(?=\\D|$)");
    private static final Pattern NODE = Pattern.compile("\\b(vm-[a-z2-7]{8}-\\d+|p[1-9])\\b");
    /** With milliseconds in 26.05. */
    private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?");

    /** What is said of the wait alone: docs/slurm.md, "What differs from a plain cluster". */
    private static final Set<String> WAIT = Set.of(
            "srun: Required node not available (down, drained or reserved)",
            "salloc: Required node not available (down, drained or reserved)",
            "srun: job N queued and waiting for resources",
            "srun: job N has been allocated resources",
            "salloc: Pending job allocation N",
            "salloc: job N queued and waiting for resources",
            "salloc: job N has been allocated resources");

    /** Runs a case of {@code matrix/} in a new folder of the user's. */
    static UserCommandResult of(LabCluster cluster, ClusterUser user, Path cases, String name) throws IOException {
        Path home = cluster.homes().resolve(user.name());
        Path folder = Files.createDirectories(home.resolve(name));
        Files.copy(cases.resolve("lib.sh"), folder.resolve(".lib.sh"));
        Files.copy(cases.resolve(name + ".sh"), folder.resolve(".case.sh"));
        LabCommand.of("chown", "-R", user.uid() + ":" + user.uid(), folder.toString())
                .succeed();
        LabCommand.Output output = cluster.as(user)
                .command(List.of(
                        "timeout",
                        SECONDS,
                        "bash",
                        "-uc",
                        "cd " + name + " && exec 2>&1 && . ./.lib.sh && . ./.case.sh"))
                .within(LIMIT)
                .run();
        return new UserCommandResult(output.exit(), plain(output.out()));
    }

    private static String plain(String text) {
        String out = JOB.matcher(text).replaceAll("$1$2N");
        out = NODE.matcher(out).replaceAll("NODE");
        out = TIME.matcher(out).replaceAll("TIME");
        return out.lines().filter(line -> !WAIT.contains(line)).collect(Collectors.joining("\n"));
    }
}
