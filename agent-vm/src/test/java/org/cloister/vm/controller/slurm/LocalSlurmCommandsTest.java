package org.cloister.vm.controller.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scripts stand where Slurm's commands would, and print what those of three releases printed. */
class LocalSlurmCommandsTest {
    /** On standard error, beside an exit status of 0. */
    private static final String NO_SUCH_COLUMN =
            "echo 'squeue: error: Invalid job format specification: Exclusive' >&2; echo";

    @TempDir
    private Path folder;

    private LocalSlurmCommands slurm() {
        return new LocalSlurmCommands(new SlurmCommand(Optional.of(folder), Optional.empty(), Duration.ofSeconds(30)));
    }

    private void program(String name, String script) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\ncd " + folder + "\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** @param probe what squeue does when it is asked for the new column alone */
    private void squeue(String probe, String... sharing) throws IOException {
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < sharing.length; i++) {
            rows.append(row(i + 1, sharing[i]));
        }
        Files.writeString(folder.resolve("rows"), rows);
        program("squeue", "echo \"$*\" >>asked; case \"$*\" in *' -O Exclusive') " + probe + " ;; *) cat rows ;; esac");
    }

    private static String row(int id, String sharing) {
        return "%-24s|%-12s|%-12s|%-12s|%-12s|%-12s|%-20s|%-64s|%-12s|%-64s|%-96s|%-1025s|"
                        .formatted(id, id, "N/A", "N/A", 0, 2001, "PENDING", "Priority", 1, "unplaced", "", "v=1")
                + "%-12s|%-12s|%-12s|%-12s|%-20s|%-20s|%-10s|%-20s|%-128s|\n"
                        .formatted(1, 1, 1, "N/A", "100M", 0, sharing, "UNLIMITED", "cpu=1,mem=100M,node=1");
    }

    private List<Boolean> exclusive(LocalSlurmCommands slurm) throws IOException {
        return slurm.jobs().stream().map(job -> job.requirements().exclusive()).toList();
    }

    @Test
    void squeue_without_the_new_column_says_by_the_old_one_that_a_job_is_exclusive() throws IOException {
        squeue(NO_SUCH_COLUMN, "OK", "NO", "USER", "TOPO", "YES");
        assertThat(exclusive(slurm())).containsExactly(false, true, false, false, false);
        assertThat(Files.readString(folder.resolve("asked"))).contains("|,OverSubscribe:10|,");
    }

    @Test
    void squeue_with_the_new_column_is_asked_for_it_once_and_then_read_by_it() throws IOException {
        squeue(":", "NO", "NODE", "USER", "TOPO");
        LocalSlurmCommands slurm = slurm();
        assertThat(exclusive(slurm)).containsExactly(false, true, false, false);
        slurm.jobs();
        assertThat(Files.readAllLines(folder.resolve("asked")))
                .hasSize(3)
                .filteredOn(line -> line.contains("|,Exclusive:10|,"))
                .hasSize(2);
    }

    @Test
    void squeue_that_does_not_answer_is_asked_again() throws IOException {
        squeue("echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1", "NO");
        LocalSlurmCommands slurm = slurm();
        assertThatThrownBy(slurm::jobs)
                .isInstanceOf(SlurmUnavailableException.class)
                .hasMessageContaining("Unable to contact");
        squeue(":", "NO");
        assertThat(exclusive(slurm)).containsExactly(false);
    }

    /** As 22.05.8, 24.11.5 and 26.05.5 say it. */
    @Test
    void a_job_that_accounting_does_not_have_gets_no_comment() throws IOException {
        program("scontrol", "echo 'slurm_update error: Invalid job id specified' >&2; exit 1");
        program("sacct", "echo 2026-11-26T10:00:00");
        for (String text : List.of(
                " Request didn't affect anything or your query is too large",
                " Request didn't affect anything",
                " Error with request: Data has not changed since time specified")) {
            program("sacctmgr", "echo ' Modified jobs...'; echo \"" + text + "\" >&2; exit 1");
            assertThatThrownBy(() -> slurm().setAdminComment(new LocalSlurmJobId("7"), "v=1"))
                    .as(text)
                    .isInstanceOf(SlurmRefusedException.class)
                    .hasMessage("sacctmgr modify job 7: accounting does not have it");
        }
    }
}
