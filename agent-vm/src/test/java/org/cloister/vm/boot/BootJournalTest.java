package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.cloister.protocol.identity.CertificateRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what an agent finds of an earlier agent in its journal. */
class BootJournalTest {
    @TempDir
    private Path folder;

    @Test
    void an_agent_finds_what_the_one_before_it_began() throws IOException {
        BootJournal first = BootJournal.open(folder);
        assertThat(first.hasRequestedEvidence()).isFalse();
        assertThat(first.mayHaveRequestedEvidenceAs(CertificateRole.WORKER)).isFalse();
        first.recordEvidenceRequest(CertificateRole.WORKER);
        first.recordEvidenceRequest(CertificateRole.WORKER);
        first.recordStep("clock", "");
        first.recordStep("network", "52:54:0a:40:0c:05");
        BootJournal second = BootJournal.open(folder);
        assertThat(second.hasRequestedEvidence()).isTrue();
        assertThat(second.mayHaveRequestedEvidenceAs(CertificateRole.WORKER)).isTrue();
        assertThat(second.mayHaveRequestedEvidenceAs(CertificateRole.CONTROLLER))
                .isFalse();
        assertThat(second.steps()).containsExactly("clock", "network");
        assertThat(second.stepNote("network")).contains("52:54:0a:40:0c:05");
        assertThat(second.stepNote("clock")).isEmpty();
        assertThat(second.stepNote("tunnel")).isEmpty();
        assertThat(Files.readAllLines(folder.resolve("begun"))).hasSize(3);
    }

    @Test
    void a_line_that_was_cut_off_counts_and_what_cannot_be_read_was_everything() throws IOException {
        Path file = folder.resolve("begun");
        Files.writeString(file, "asked worker\nclock \nnetwork 52:5");
        assertThat(BootJournal.open(folder).steps()).containsExactly("clock", "network");
        for (String cut : List.of("", "as", "x".repeat(5000), "\u00ff\n")) {
            Files.writeString(file, cut, StandardCharsets.ISO_8859_1);
            BootJournal journal = BootJournal.open(folder);
            assertThat(journal.hasRequestedEvidence()).isTrue();
            assertThat(journal.mayHaveRequestedEvidenceAs(CertificateRole.WORKER))
                    .isTrue();
            assertThat(journal.mayHaveRequestedEvidenceAs(CertificateRole.CONTROLLER))
                    .isTrue();
            assertThat(journal.isUnreadable()).isEqualTo(!cut.equals("as"));
        }
    }
}
