package org.cloister.vm.controller.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobStatusFilesTest {
    private static final LocalSlurmJobId JOB = new LocalSlurmJobId("12");
    private static final LocalSlurmJobId TASK = new LocalSlurmJobId("12_3");
    private static final Instant START = Instant.parse("2026-11-22T08:00:00Z");
    private static final JobStatus BOOT = new JobStatus("boot", "the site", "0 of 2 VMs are up");

    @TempDir
    private Path above = Path.of("");

    private Path folder = Path.of("");
    private Instant now = START.plusNanos(7);
    private final InstantSource clock = () -> now;

    @BeforeEach
    void name() {
        folder = above.resolve("jobs");
    }

    private JobStatusDocument read(LocalSlurmJobId job) throws IOException, MalformedException {
        return JobStatusDocument.parse(Files.readAllBytes(folder.resolve(job + ".json")));
    }

    @Test
    void everybody_may_read_what_we_alone_write() throws Exception {
        new JobStatusFiles(folder, clock).set(TASK, BOOT);
        assertThat(read(TASK)).isEqualTo(new JobStatusDocument(TASK, BOOT, START));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)))
                .isEqualTo("rwxr-xr-x");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("12_3.json"))))
                .isEqualTo("rw-r--r--");
    }

    @Test
    void since_is_when_the_phase_began_and_not_when_the_text_changed() throws Exception {
        JobStatusFiles files = new JobStatusFiles(folder, clock);
        files.set(JOB, BOOT);
        now = START.plusSeconds(5);
        files.set(JOB, new JobStatus("boot", "the site", "1 of 2 VMs are up"));
        assertThat(read(JOB).since()).isEqualTo(START);
        assertThat(read(JOB).status().text()).isEqualTo("1 of 2 VMs are up");
        now = START.plusSeconds(9);
        files.set(JOB, new JobStatus("boot", "the host", "1 of 2 VMs are up"));
        assertThat(read(JOB).since()).isEqualTo(START.plusSeconds(9));
    }

    @Test
    void what_has_not_changed_is_not_written_again() throws Exception {
        JobStatusFiles files = new JobStatusFiles(folder, clock);
        files.set(JOB, BOOT);
        Object first =
                Files.readAttributes(folder.resolve("12.json"), "unix:ino").get("ino");
        files.set(JOB, BOOT);
        assertThat(Files.readAttributes(folder.resolve("12.json"), "unix:ino").get("ino"))
                .isEqualTo(first);
    }

    @Test
    void a_restart_keeps_since_and_retain_forgets_what_is_over() throws Exception {
        JobStatusFiles before = new JobStatusFiles(folder, clock);
        before.set(JOB, BOOT);
        before.set(TASK, BOOT);
        Files.writeString(folder.resolve(".12.json.new"), "{\"v\":1");
        now = START.plus(Duration.ofHours(1));
        JobStatusFiles after = new JobStatusFiles(folder, clock);
        after.set(JOB, BOOT);
        after.retain(Set.of(JOB));
        try (var left = Files.list(folder)) {
            assertThat(left).containsExactly(folder.resolve("12.json"));
        }
        assertThat(read(JOB).since()).isEqualTo(START);
    }

    @Test
    void a_file_that_is_not_ours_is_written_anew() throws Exception {
        Files.createDirectory(folder);
        for (String torn : new String[] {"", "{\"v\":1,\"job\":\"12\"", "x".repeat(5000)}) {
            Files.writeString(folder.resolve("12.json"), torn);
            new JobStatusFiles(folder, clock).set(JOB, BOOT);
            assertThat(read(JOB).status()).isEqualTo(BOOT);
        }
    }

    @Test
    void clear_and_retain_take_away_what_is_there_and_what_is_not() {
        JobStatusFiles files = new JobStatusFiles(folder, clock);
        files.retain(Set.of());
        files.clear(JOB);
        files.set(JOB, BOOT);
        files.set(TASK, BOOT);
        files.clear(JOB);
        assertThat(folder.resolve("12.json")).doesNotExist();
        files.retain(Set.of(JOB));
        assertThat(folder).isEmptyDirectory();
        files.set(TASK, BOOT);
        assertThat(folder.resolve("12_3.json")).exists();
    }

    @Test
    void a_folder_that_cannot_be_written_is_no_failure_and_is_tried_with_the_next() throws Exception {
        JobStatusFiles files = new JobStatusFiles(above.resolve("later/jobs"), clock);
        files.set(JOB, BOOT);
        Files.createDirectory(above.resolve("later"));
        files.set(JOB, BOOT);
        assertThat(above.resolve("later/jobs/12.json")).exists();
    }

    @Test
    void what_the_site_says_is_made_fit_for_a_line() throws Exception {
        new JobStatusFiles(folder, clock)
                .set(JOB, new JobStatus("Boot!", "who\n" + "w".repeat(200), "a\u001b[2Jb\nc\u00e9" + "x".repeat(900)));
        JobStatus status = read(JOB).status();
        assertThat(status.phase()).isEqualTo("failed");
        assertThat(status.waitsOn()).hasSize(80).startsWith("who www").endsWith("...");
        assertThat(status.text()).hasSize(400).startsWith("a?[2Jb c?xx");
    }
}
