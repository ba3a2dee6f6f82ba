package org.cloister.vm.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobProcessesTest {
    /** Nobody's on any machine where the tests run. */
    private static final int UID = 59_321;

    @TempDir
    private Path folder;

    @Test
    void all_that_runs_as_a_member_is_ended_and_nothing_else() throws IOException, InterruptedException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root starts a process as somebody else");
        Process members = new ProcessBuilder(
                        "setpriv", "--reuid=" + UID, "--clear-groups", "sh", "-c", "trap '' TERM; sleep 300 & wait")
                .start();
        Process other = new ProcessBuilder("sleep", "300").start();
        // Its name is the link's; a machine that runs the tests may have steps of its own.
        Path program = Files.createSymbolicLink(folder.resolve("step-of-a-test"), Path.of("/usr/bin/sleep"));
        Process step = new ProcessBuilder(program.toString(), "300").start();
        JobProcesses job = new JobProcesses(UID, UID, "step-of-a-test");
        for (int i = 0; i < 200 && job.running().size() < 3; i++) {
            Thread.sleep(20);
        }
        assertThat(job.running()).hasSizeGreaterThanOrEqualTo(3);
        job.killAll();
        assertThat(job.running()).isEmpty();
        assertThat(members.waitFor(5, TimeUnit.SECONDS)).isTrue();
        assertThat(step.waitFor(5, TimeUnit.SECONDS)).isTrue();
        assertThat(other.isAlive()).isTrue();
        other.destroyForcibly();
        job.killAll();
    }
}
