package org.cloister.vm.controller.drive;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.handover.VmEndReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class EndReportFileTest {
    private static final Instant TIME = Instant.parse("2026-06-02T09:30:00Z");
    private static final VmEndReport REPORT =
            VmEndReport.of(TIME.plusMillis(7), "the project cannot start: sacctmgr list cluster: time limit of 60 s");

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private EndReportFile file() {
        return new EndReportFile(folder);
    }

    @Test
    void a_report_is_read_back_until_it_is_deleted_and_only_its_owner_reads_it() throws Exception {
        assertThat(file().read()).isEmpty();
        file().write(REPORT);
        assertThat(folder.resolve("last-end"))
                .hasContent("2026-06-02T09:30:00Z the project cannot start: sacctmgr list cluster: time limit of 60 s");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("last-end"))))
                .isEqualTo("rw-------");
        assertThat(file().read()).contains(REPORT);
        file().delete(REPORT);
        assertThat(folder).isEmptyDirectory();
        file().delete(REPORT);
    }

    @Test
    void a_report_that_replaced_the_delivered_one_stays() {
        VmEndReport later = VmEndReport.of(TIME.plus(Duration.ofDays(1)), "the queue failed");
        file().write(REPORT);
        file().write(later);
        file().delete(REPORT);
        assertThat(file().read()).contains(later);
    }

    @Test
    void the_longest_report_fits_and_one_byte_more_is_none() throws Exception {
        VmEndReport longest = VmEndReport.of(TIME, "x".repeat(10_000));
        file().write(longest);
        assertThat(file().read()).contains(longest);
        String text = Files.readString(folder.resolve("last-end"));
        assertThat(text).hasSizeLessThanOrEqualTo(4096);
        Files.writeString(folder.resolve("last-end"), text.replace("\n", "x\n"));
        assertThat(file().read()).isEmpty();
    }

    @Test
    void what_is_no_report_is_ignored_and_replaced() throws Exception {
        for (String text : new String[] {
            "",
            "\n",
            "2026-06-02T09:30:00Z \n",
            "2026-06-02T09:30:00Z a",
            "2026-06-02T09:30:00Z a\nb\n",
            "2026-06-02T09:30:00Z \u001b[2J\n",
            "2026-06-02T09:30:00Z \u00fc\n",
            "2026-06-32T09:30:00Z a\n",
            "1969-06-02T09:30:00Z a\n",
            "+12026-06-02T09:30Z a\n",
            "a".repeat(100_000)
        }) {
            Files.write(folder.resolve("last-end"), text.getBytes(StandardCharsets.ISO_8859_1));
            assertThat(file().read()).as(text).isEmpty();
        }
        file().write(REPORT);
        assertThat(file().read()).contains(REPORT);
    }

    @Test
    void nothing_but_a_regular_file_is_opened() throws Exception {
        Path place = folder.resolve("last-end");
        ProcessRunner.local().runChecked("mkfifo", place.toString());
        assertThat(file().read()).isEmpty();
        Files.delete(place);
        Path elsewhere = Files.writeString(folder.resolve("elsewhere"), "2026-06-02T09:30:00Z a\n");
        Files.createSymbolicLink(place, elsewhere);
        assertThat(file().read()).isEmpty();
        file().write(REPORT);
        assertThat(file().read()).contains(REPORT);
        assertThat(elsewhere).hasContent("2026-06-02T09:30:00Z a");
    }

    @Test
    void a_report_that_cannot_be_written_stops_nobody() throws IOException {
        Files.createDirectories(folder.resolve("last-end/below"));
        file().write(REPORT);
        assertThat(file().read()).isEmpty();
        new EndReportFile(folder.resolve("none")).write(REPORT);
        assertThat(folder.resolve("none")).doesNotExist();
    }
}
