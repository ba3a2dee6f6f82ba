package org.cloister.relay.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that stand where Slurm's would, each with one thing wrong. */
class GlobalSlurmCommandsTest {
    private static final String TICKET = "abcdefghijklmnopqrstuvwx22";
    private static final JobSubmission WHAT = new JobSubmission(
            "secure",
            TICKET,
            "acct",
            1,
            OptionalInt.empty(),
            1,
            OptionalInt.empty(),
            10,
            false,
            Duration.ofMinutes(1),
            List.of());

    @TempDir
    Path programs;

    @Test
    void a_number_alone_on_success_is_a_job() throws IOException {
        program("sbatch", "cat >/dev/null; echo 42");
        assertThat(slurm(30).submit(WHAT)).isEqualTo(42);
        program("sbatch", "cat >/dev/null; echo '42;global'");
        assertThat(slurm(30).submit(WHAT)).isEqualTo(42);
    }

    @Test
    void words_of_slurmctld_that_are_known_are_a_refusal() throws IOException {
        program("sbatch", fails("Batch job submission failed: Invalid feature specification"));
        assertThatThrownBy(() -> slurm(30).submit(WHAT))
                .isInstanceOf(SlurmRefusedException.class)
                .hasMessage("Invalid feature specification");
    }

    @Test
    void every_other_answer_leaves_open_whether_there_is_a_job() throws IOException {
        for (String body : List.of(
                fails("Batch job submission failed: Unable to contact slurm controller (connect failure)"),
                fails("Batch job submission failed: Socket timed out on send/recv operation"),
                fails("Batch job submission failed: Unspecified error"),
                fails("Invalid feature specification"),
                "echo 42; " + fails("Batch job submission failed: Invalid feature specification"),
                "exit 0",
                "echo",
                "echo 0",
                "echo 42 43",
                "echo job 42",
                "kill -9 $$",
                "yes")) {
            program("sbatch", body);
            assertThatThrownBy(() -> slurm(30).submit(WHAT)).as(body).isInstanceOf(SlurmUnavailableException.class);
        }
    }

    @Test
    void a_program_that_does_not_end_is_killed_with_its_children() throws IOException {
        Path pid = programs.resolve("pid");
        program("sbatch", "sleep 600 & echo $! >" + pid + "; wait");
        assertThatThrownBy(() -> slurm(1).submit(WHAT))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("no answer within 1 s");
        long child = Long.parseLong(Files.readString(pid).strip());
        ProcessHandle.of(child).ifPresent(left -> left.onExit().join());
        assertThat(ProcessHandle.of(child).filter(ProcessHandle::isAlive)).isEmpty();
    }

    @Test
    void nothing_of_the_relays_environment_reaches_a_program() throws IOException {
        program("squeue", "env >" + programs.resolve("env"));
        new GlobalSlurmCommands(settings(30, Optional.of(Path.of("/etc/slurm/other.conf")))).jobs();
        assertThat(Files.readAllLines(programs.resolve("env")))
                .contains("LC_ALL=C", "TZ=UTC", "SLURM_CONF=/etc/slurm/other.conf")
                .allMatch(line -> line.matches("(PATH|LC_ALL|TZ|SLURM_CONF|PWD|OLDPWD|SHLVL|_)=.*"));
    }

    @Test
    void an_option_that_sbatch_does_not_know_is_named_before_a_ticket_needs_it() throws IOException {
        program("sbatch", "for each; do last=$each; done; [ $last = --version ] && echo slurm 24.11.5");
        slurm(30).requireOptions();
        program(
                "sbatch",
                "echo \"sbatch: unrecognized option '--propagate=NONE'\" >&2; echo 'Try \"sbatch --help\"' >&2; exit 255");
        assertThatThrownBy(() -> slurm(30).requireOptions())
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("sbatch: unrecognized option '--propagate=NONE'; each ticket would fail");
        program("sbatch", fails("Unable to process configuration file"));
        assertThatThrownBy(() -> slurm(30).requireOptions())
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("Unable to process configuration file; put slurm.conf");
    }

    @Test
    void a_failed_look_is_no_empty_one() throws IOException {
        program("squeue", fails("Unable to contact slurm controller (connect failure)"));
        assertThatThrownBy(() -> slurm(30).jobs()).isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(() -> new GlobalSlurmCommands(settings(30, Optional.empty())).shares(1))
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("cannot be run");
    }

    @Test
    void a_site_without_accounting_is_not_asked_for_it() throws IOException {
        program("sacct", "exit 1");
        program("scontrol", "echo 'AccountingStorageType   = accounting_storage/none'");
        assertThat(slurm(30).accounted(List.of(TICKET))).isEmpty();
        program("scontrol", "echo 'AccountingStorageType   = accounting_storage/slurmdbd'");
        assertThatThrownBy(() -> slurm(30).accounted(List.of(TICKET))).isInstanceOf(SlurmUnavailableException.class);
        program("scontrol", "echo 'BurstBufferType = x'");
        assertThatThrownBy(() -> slurm(30).accounted(List.of(TICKET))).isInstanceOf(SlurmUnavailableException.class);
    }

    @Test
    void a_list_of_nodes_too_long_for_its_column_is_read_whole() throws IOException {
        String names = "n".repeat(60) + "[1-2]";
        String many = String.join(",", Collections.nCopies(5, names));
        program(
                "squeue",
                "case \"$*\" in *-j*) echo '%s   ' ;; *) printf '%%-24s|%%-32s|%%-64s|%%.256s|%%-64s|\\n' 7 RUNNING None '%s' %s;; esac"
                        .formatted(many, many, TICKET));
        program("scontrol", "test \"$3\" = '" + many + "' && printf 'a1\\na2\\n'");
        assertThat(slurm(30).jobs()).singleElement().matches(job -> job.nodes().equals(List.of("a1", "a2")));
    }

    @Test
    void cancelling_what_is_not_there_is_no_error_and_not_reaching_slurm_is() throws IOException {
        program("scancel", fails("Kill job error on job id 7: Invalid job id specified"));
        slurm(30).cancel(7);
        program("scancel", fails("Kill job error on job id 7: Job/step already completing or completed"));
        slurm(30).cancel(7);
        program("scancel", fails("Kill job error on job id 7: Unable to contact slurm controller (connect failure)"));
        assertThatThrownBy(() -> slurm(30).cancel(7)).isInstanceOf(SlurmUnavailableException.class);
    }

    private static String fails(String words) {
        return "echo 'sbatch: error: " + words + "' >&2; exit 1";
    }

    private void program(String name, String body) throws IOException {
        Path file = programs.resolve(name);
        Path next = programs.resolve("next");
        Files.writeString(next, "#!/bin/sh\n" + body + "\n");
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
    }

    private GlobalSlurmCommands slurm(int seconds) {
        return new GlobalSlurmCommands(settings(seconds, Optional.empty()));
    }

    private GlobalSlurmSettings settings(int seconds, Optional<Path> configuration) {
        return new GlobalSlurmSettings(
                Optional.of(programs),
                configuration,
                "relay",
                new GlobalPartitions("secure", Optional.empty()),
                GlobalSlurmSettings.DEFAULT_STEP,
                Duration.ofSeconds(seconds));
    }
}
