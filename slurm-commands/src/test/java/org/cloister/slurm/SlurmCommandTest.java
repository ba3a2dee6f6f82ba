package org.cloister.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs of the system, and scripts, each with one habit. */
@Timeout(60)
class SlurmCommandTest {
    private static final SlurmCommand SYSTEM =
            new SlurmCommand(Optional.of(Path.of("/usr/bin")), Optional.empty(), Duration.ofSeconds(30));

    @TempDir
    private Path folder;

    private SlurmCommand script(String body, int seconds) throws IOException {
        Path file = Files.writeString(folder.resolve("said"), "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new SlurmCommand(Optional.of(folder), Optional.empty(), Duration.ofSeconds(seconds));
    }

    @Test
    void words_errors_and_status_come_apart() throws IOException {
        SlurmCommand.Output output =
                script("echo out \"$1\"; echo err >&2; exit 3", 30).run("said", List.of("a b; $(id)"), "");
        assertThat(output).isEqualTo(new SlurmCommand.Output(3, "out a b; $(id)\n", "err\n"));
    }

    @Test
    void input_is_read_to_its_end() throws IOException {
        String input = "line\n".repeat(100_000);
        assertThat(SYSTEM.run("cat", List.of(), input).out()).isEqualTo(input);
    }

    @Test
    void the_environment_has_nothing_but_ours() throws IOException {
        SlurmCommand program = new SlurmCommand(
                Optional.of(Path.of("/usr/bin")), Optional.of(Path.of("/x/slurm.conf")), Duration.ofSeconds(30));
        assertThat(program.succeed("env", List.of()).lines().filter(line -> !line.startsWith("PATH=")))
                .containsExactlyInAnyOrder("LC_ALL=C", "TZ=UTC", "SLURM_CONF=/x/slurm.conf");
    }

    @Test
    void a_program_that_does_not_end_is_killed_with_its_child() throws Exception {
        Path pids = folder.resolve("pids");
        SlurmCommand program = script("sleep 600 & echo $$ $! >" + pids + "; wait", 1);
        assertThatThrownBy(() -> program.run("said", List.of(), ""))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessage("said: no answer within 1 s; ask scontrol ping");
        for (String pid : Files.readString(pids).strip().split(" ", -1)) {
            awaitGone(Long.parseLong(pid));
        }
    }

    @Test
    void a_program_that_does_not_read_is_killed_too() throws IOException {
        SlurmCommand program = script("exec sleep 600", 1);
        assertThatThrownBy(() -> program.run("said", List.of(), "x".repeat(1 << 20)))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("no answer within 1 s");
    }

    @Test
    void a_program_that_says_too_much_is_killed_long_before_its_limit() throws Exception {
        Path pid = folder.resolve("pid");
        SlurmCommand program = script("echo $$ >" + pid + "; exec yes", 600);
        assertThatThrownBy(() -> program.run("said", List.of(), ""))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("more than 33554432 bytes");
        awaitGone(Long.parseLong(Files.readString(pid).strip()));
        SlurmCommand errors = script("exec yes >&2", 600);
        assertThatThrownBy(() -> errors.run("said", List.of(), ""))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("more than 65536 bytes");
    }

    @Test
    void a_child_that_keeps_the_output_open_does_not_hold_us() throws Exception {
        Path pid = folder.resolve("pid");
        SlurmCommand program = script("sleep 600 & echo $! >" + pid + "; echo out", 30);
        long start = System.nanoTime();
        try {
            assertThat(program.run("said", List.of(), "").out()).isEqualTo("out\n");
        } catch (SlurmUnavailableException e) {
            assertThat(e).hasMessageContaining("output");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(25));
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Test
    void any_status_but_0_is_no_answer_where_an_answer_is_wanted() throws IOException {
        SlurmCommand program =
                script("echo 'squeue: error: a'; echo 'squeue: error: Unable to contact' >&2; exit 1", 30);
        assertThatThrownBy(() -> program.succeed("said", List.of()))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessage("said: Unable to contact; ask scontrol ping");
    }

    @Test
    void a_complaint_is_the_last_line_said_in_printable_words() {
        assertThat(new SlurmCommand.Output(1, "", "x\nsbatch: error: no\u001b[2J such\t\tpartition\n\n").complaint())
                .isEqualTo("no?[2J such partition");
        assertThat(new SlurmCommand.Output(7, "\n", " ").complaint()).isEqualTo("exit status 7");
        assertThat(new SlurmCommand.Output(1, "y".repeat(500), "").complaint())
                .hasSize(400)
                .endsWith("...");
    }

    @Test
    void a_program_that_is_not_there_has_a_remedy() {
        assertThatThrownBy(() -> SYSTEM.run("no-such-program", List.of(), ""))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("cannot be run")
                .hasMessageContaining("install Slurm's commands");
    }

    @Test
    void an_interrupted_run_leaves_no_program() throws Exception {
        Path pid = folder.resolve("pid");
        SlurmCommand program = script("echo $$ >" + pid + ".new; mv " + pid + ".new " + pid + "; exec sleep 600", 600);
        Thread runner = new Thread(() -> {
            try {
                program.run("said", List.of(), "");
            } catch (SlurmUnavailableException e) {
                // As it should.
            }
        });
        runner.start();
        while (!Files.exists(pid)) {
            Thread.onSpinWait();
        }
        runner.interrupt();
        runner.join(20_000);
        assertThat(runner.isAlive()).isFalse();
        awaitGone(Long.parseLong(Files.readString(pid).strip()));
    }

    /** Killed is not yet gone. */
    private static void awaitGone(long pid) throws Exception {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        if (process.isPresent()) {
            process.get().onExit().get(20, TimeUnit.SECONDS);
        }
    }
}
