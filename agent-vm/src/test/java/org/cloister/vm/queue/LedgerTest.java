package org.cloister.vm.queue;

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
import org.cloister.vm.worker.Phase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
    @TempDir
    private Path folder;

    private Path file = Path.of("ledger");
    private final Entry entry = Samples.entry();
    private final Entry closed = entry.with(Map.of(Phase.BOOT, Samples.seconds(1.5)))
            .closed(Entry.Stage.WITHDRAWN, Optional.of(FakeWorkers.TROUBLE), 2, 5_000);

    @BeforeEach
    void name() {
        file = folder.resolve("ledger");
    }

    @Test
    void what_was_put_is_there_again_as_it_was_last() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.put(List.of(entry));
            ledger.put(List.of(closed, Samples.component(Samples.OTHER, Samples.component(9, 0))));
            ledger.drop(List.of(Samples.OTHER));
        }
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).containsExactly(closed);
        }
    }

    @Test
    void whose_job_a_ticket_is_for_is_known_as_long_as_the_ticket_is() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.put(List.of(entry));
            assertThat(ledger.ownerOf(entry.ticket())).hasValue(entry.uid());
        }
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.ownerOf(entry.ticket())).hasValue(entry.uid());
            ledger.drop(List.of(entry.ticket()));
            assertThat(ledger.ownerOf(entry.ticket())).isEmpty();
        }
    }

    @Test
    void a_line_that_a_crash_cut_short_counts_for_nothing_at_every_length() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.put(List.of(entry));
        }
        byte[] whole = Files.readAllBytes(file);
        for (int cut = 0; cut < whole.length; cut += 17) {
            Files.write(file, whole);
            Files.write(file, Arrays.copyOf(whole, cut), StandardOpenOption.APPEND);
            try (Ledger ledger = Ledger.open(file)) {
                assertThat(ledger.entries()).as("cut at " + cut).containsExactly(entry);
            }
        }
    }

    @Test
    void a_line_amid_others_that_does_not_parse_is_not_passed_over() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.put(List.of(entry));
        }
        String text = Files.readString(file);
        Files.writeString(file, text + "{\"put\":[]}\n" + text);
        assertThatThrownBy(() -> Ledger.open(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 2 does not parse");
        Files.writeString(file, text);
        Ledger.open(file).close();
    }

    @Test
    void a_second_one_has_to_wait_its_turn() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).isEmpty();
            assertThatThrownBy(() -> Ledger.open(file)).hasMessageContaining("another process has it");
        }
    }

    @Test
    void the_file_does_not_grow_for_ever() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            for (int i = 0; i < 2_100; i++) {
                ledger.put(List.of(entry));
            }
            ledger.put(List.of(closed));
        }
        assertThat(Files.readAllLines(file)).hasSizeLessThan(200);
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).containsExactly(closed);
        }
    }

    /** As on a drive that has no file left to give. */
    private void nothingNew() throws IOException {
        Files.createDirectories(folder.resolve("ledger.new/occupied"));
    }

    @Test
    void where_no_file_can_be_made_the_old_one_goes_on() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            nothingNew();
            for (int i = 0; i < 2_100; i++) {
                ledger.put(List.of(entry));
            }
            ledger.put(List.of(closed));
        }
        assertThat(Files.readAllLines(file)).hasSize(2_101);
        Files.writeString(file, "{\"put\":[", StandardOpenOption.APPEND);
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).containsExactly(closed);
            ledger.put(List.of(Samples.component(Samples.OTHER, Samples.component(9, 0))));
        }
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).hasSize(2).contains(closed);
        }
        Files.delete(folder.resolve("ledger.new/occupied"));
        Files.delete(folder.resolve("ledger.new"));
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).hasSize(2).contains(closed);
        }
        assertThat(Files.readAllLines(file)).hasSize(2);
    }
}
