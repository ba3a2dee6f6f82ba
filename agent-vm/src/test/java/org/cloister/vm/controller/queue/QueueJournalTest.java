package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QueueJournalTest {
    @TempDir
    private Path folder;

    private Path file = Path.of("ledger");
    private final JobTicket entry = QueueSamples.entry();
    private final JobTicket closed = entry.withPhases(Map.of(WorkerPhase.BOOT, QueueSamples.seconds(1.5)))
            .markClosed(JobTicket.Stage.WITHDRAWN, Optional.of(FakeWorkerAllocator.TROUBLE), 2, 5_000);

    @BeforeEach
    void name() {
        file = folder.resolve("ledger");
    }

    @Test
    void what_was_put_is_there_again_as_it_was_last() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            ledger.put(List.of(entry));
            ledger.put(List.of(closed, QueueSamples.component(QueueSamples.OTHER, QueueSamples.component(9, 0))));
            ledger.drop(List.of(QueueSamples.OTHER));
        }
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.entries()).containsExactly(closed);
        }
    }

    @Test
    void whose_job_a_ticket_is_for_is_known_as_long_as_the_ticket_is() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            ledger.put(List.of(entry));
            assertThat(ledger.ownerOf(entry.ticket())).hasValue(entry.uid());
        }
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.ownerOf(entry.ticket())).hasValue(entry.uid());
            ledger.drop(List.of(entry.ticket()));
            assertThat(ledger.ownerOf(entry.ticket())).isEmpty();
        }
    }

    @Test
    void a_line_that_a_crash_cut_short_counts_for_nothing_at_every_length() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            ledger.put(List.of(entry));
        }
        byte[] whole = Files.readAllBytes(file);
        for (int cut = 0; cut < whole.length; cut += 17) {
            Files.write(file, whole);
            Files.write(file, Arrays.copyOf(whole, cut), StandardOpenOption.APPEND);
            try (QueueJournal ledger = QueueJournal.open(file)) {
                assertThat(ledger.entries()).as("cut at " + cut).containsExactly(entry);
            }
        }
    }

    @Test
    void a_line_amid_others_that_does_not_parse_is_not_passed_over() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            ledger.put(List.of(entry));
        }
        String text = Files.readString(file);
        Files.writeString(file, text + "{\"put\":[]}\n" + text);
        assertThatThrownBy(() -> QueueJournal.open(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 2 does not parse");
        Files.writeString(file, text);
        QueueJournal.open(file).close();
    }

    @Test
    void a_second_one_has_to_wait_its_turn() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.entries()).isEmpty();
            assertThatThrownBy(() -> QueueJournal.open(file)).hasMessageContaining("another process has locked it");
        }
    }

    @Test
    void the_file_does_not_grow_for_ever() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            for (int i = 0; i < 2_100; i++) {
                ledger.put(List.of(entry));
            }
            ledger.put(List.of(closed));
        }
        assertThat(Files.readAllLines(file)).hasSizeLessThan(200);
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.entries()).containsExactly(closed);
        }
    }

    /** As on a drive that has no file left to give. */
    private void nothingNew() throws IOException {
        Files.createDirectories(folder.resolve("ledger.new/occupied"));
    }

    @Test
    void where_no_file_can_be_made_the_old_one_goes_on() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(file)) {
            nothingNew();
            for (int i = 0; i < 2_100; i++) {
                ledger.put(List.of(entry));
            }
            ledger.put(List.of(closed));
        }
        assertThat(Files.readAllLines(file)).hasSize(2_101);
        Files.writeString(file, "{\"put\":[", StandardOpenOption.APPEND);
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.entries()).containsExactly(closed);
            ledger.put(List.of(QueueSamples.component(QueueSamples.OTHER, QueueSamples.component(9, 0))));
        }
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.entries()).hasSize(2).contains(closed);
        }
        Files.delete(folder.resolve("ledger.new/occupied"));
        Files.delete(folder.resolve("ledger.new"));
        try (QueueJournal ledger = QueueJournal.open(file)) {
            assertThat(ledger.entries()).hasSize(2).contains(closed);
        }
        assertThat(Files.readAllLines(file)).hasSize(2);
    }
}
