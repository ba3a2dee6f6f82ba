package org.cloister.host.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.MalformedException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerTest {
    private static final VmOwner OWNER = Owners.owner(1);
    private static final Entry ENTRY = Entry.claim(OWNER, true, 1_000);
    private static final End END = new End(End.Why.LOST, "SCRATCH", 5_000);

    @TempDir(factory = InMemory.class)
    private Path folder;

    private Path file = Path.of("ledger");

    @BeforeEach
    void name() {
        file = folder.resolve("ledger");
    }

    @Test
    void what_was_written_is_there_again_as_it_was_last() throws Exception {
        Entry second = Entry.claim(Owners.owner(2), false, 2_000);
        try (Ledger ledger = Ledger.open(file)) {
            ledger.claim(ENTRY);
            ledger.claim(second);
            ledger.claim(Entry.claim(Owners.owner(3), false, 2_000));
            assertThat(ledger.begin(OWNER.uuid(), Step.OVERLAY)).isTrue();
            ledger.end(OWNER.uuid(), END);
            ledger.end(OWNER.uuid(), new End(End.Why.ASKED, "", 6_000));
            ledger.forget(Owners.owner(3).uuid(), 7_000);
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).containsExactly(ENTRY.at(Step.OVERLAY).ending(END), second);
        }
    }

    @Test
    void a_line_that_a_crash_cut_short_counts_for_nothing_at_every_length() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.claim(ENTRY);
        }
        byte[] before = Files.readAllBytes(file);
        try (Ledger ledger = Ledger.open(file)) {
            ledger.begin(OWNER.uuid(), Step.OVERLAY);
        }
        byte[] after = Files.readAllBytes(file);
        for (int length = before.length; length < after.length; length++) {
            Files.write(file, Arrays.copyOf(after, length));
            try (Ledger ledger = Ledger.open(file)) {
                assertThat(ledger.entries()).as("cut to " + length).containsExactly(ENTRY);
            }
            // As after a loss of power: the length is on disk, and bytes are not, or only the last page's.
            byte[] zeros = Arrays.copyOf(Arrays.copyOf(after, length), after.length);
            Files.write(file, zeros);
            try (Ledger ledger = Ledger.open(file)) {
                assertThat(ledger.entries()).as("zeros from " + length).containsExactly(ENTRY);
            }
            zeros[after.length - 1] = '\n';
            if (length < after.length - 1) {
                Files.write(file, zeros);
                try (Ledger ledger = Ledger.open(file)) {
                    assertThat(ledger.entries())
                            .as("a line end after zeros from " + length)
                            .containsExactly(ENTRY);
                }
            }
        }
    }

    @Test
    void a_byte_that_changed_amid_others_is_not_passed_over() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.claim(ENTRY);
            ledger.begin(OWNER.uuid(), Step.OVERLAY);
        }
        byte[] whole = Files.readAllBytes(file);
        int last = new String(whole, StandardCharsets.US_ASCII).lastIndexOf('\n', whole.length - 2);
        for (int at = 0; at < last; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 1;
            Files.write(file, changed);
            assertThatThrownBy(() -> Ledger.open(file).close())
                    .as("byte " + at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("move the file away");
        }
    }

    @Test
    void a_line_of_a_later_version_is_refused_and_not_dropped() throws Exception {
        Ledger.open(file).close();
        Files.writeString(file, Journal.line("paint it red"), StandardOpenOption.APPEND);
        assertThatThrownBy(() -> Ledger.open(file)).hasMessageContaining("line 2: want put, drop or spent");
    }

    @Test
    void words_that_no_ledger_writes_do_not_parse() {
        String put = new Line.Put(ENTRY.ending(END)).text();
        for (String text : List.of(
                "put",
                put + " ",
                put.replace(" scratch ", " SCRATCH "),
                put.replace("5000", "05000"),
                put.replace("5000", "-1"),
                put.replace(" LOST ", " lost "),
                put.replace(" CLAIMED ", " PAINTED "),
                put.replace(" 1000 ", " 1e3 "),
                put.replace(" 1000 ", " 99999999999999999999 "),
                "drop x",
                "spent x -1 2",
                "")) {
            assertThatThrownBy(() -> Line.parse(text)).as(text).isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void a_place_starts_one_vm_and_never_another() throws Exception {
        Entry again = Entry.claim(Owners.again(OWNER), true, 9_000);
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.knows(OWNER.ticket())).isFalse();
            ledger.claim(ENTRY);
            assertThat(ledger.knows(OWNER.ticket())).isTrue();
            assertThatThrownBy(() -> ledger.claim(again))
                    .isInstanceOf(ClaimRefused.class)
                    .hasMessageContaining("have the VM " + OWNER.uuid());
            ledger.forget(OWNER.uuid(), 8_000);
            assertThatThrownBy(() -> ledger.claim(again))
                    .hasMessageContaining("whose VM ended at 1970-01-01T00:00:08Z");
        }
        // Twice, since opening writes the file anew.
        Ledger.open(file).close();
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.knows(OWNER.ticket())).isTrue();
            assertThatThrownBy(() -> ledger.claim(again)).isInstanceOf(ClaimRefused.class);
            ledger.claim(Entry.claim(Owners.again(OWNER), true, 8_000 + Spent.KEPT_MS));
        }
    }

    @Test
    void a_name_that_another_vm_has_is_refused() throws Exception {
        String ticket = OWNER.ticket().substring(0, 20) + "zzzzzz";
        VmOwner twin = new VmOwner(
                OWNER.project(), ticket, OWNER.slot(), 7, Owners.again(OWNER).uuid());
        try (Ledger ledger = Ledger.open(file)) {
            ledger.claim(ENTRY);
            assertThatThrownBy(() -> ledger.claim(Entry.claim(twin, true, 0)))
                    .isInstanceOf(ClaimRefused.class)
                    .hasMessageContaining("want names of its own");
        }
    }

    @Test
    void what_ends_begins_nothing_and_no_step_is_left_out() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            ledger.claim(ENTRY);
            assertThatThrownBy(() -> ledger.begin(OWNER.uuid(), Step.TAP))
                    .hasMessageContaining("want what follows CLAIMED, have TAP");
            ledger.end(OWNER.uuid(), END);
            assertThat(ledger.begin(OWNER.uuid(), Step.OVERLAY)).isFalse();
            assertThat(ledger.begin(Owners.owner(2).uuid(), Step.OVERLAY)).isFalse();
        }
    }

    @Test
    void one_process_has_it() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            assertThatThrownBy(() -> Ledger.open(file)).hasMessageContaining("another process has it");
            assertThat(ledger.entries()).isEmpty();
        }
        Ledger.open(file).close();
    }

    @Test
    void a_ledger_of_which_nobody_knows_what_is_on_disk_ends_the_process() throws Exception {
        List<String> fatal = new ArrayList<>();
        try (Ledger ledger = Ledger.open(file, fatal::add)) {
            ledger.claim(ENTRY);
            assertThat(fatal).isEmpty();
            // It closes the file under the one who writes.
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> ledger.end(OWNER.uuid(), END)).hasMessageContaining("ClosedByInterruptException");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(fatal)
                    .containsExactly("ledger " + file + ": unknown what is on disk: ClosedByInterruptException");
            assertThatThrownBy(() -> ledger.end(OWNER.uuid(), END)).isInstanceOf(UncheckedIOException.class);
            assertThat(fatal).hasSize(2);
        }
    }

    @Test
    void it_does_not_grow_with_time() throws Exception {
        try (Ledger ledger = Ledger.open(file)) {
            for (int i = 0; i < 1_500; i++) {
                VmOwner owner = Owners.owner(i);
                ledger.claim(Entry.claim(owner, false, i * Spent.KEPT_MS));
                ledger.forget(owner.uuid(), i * Spent.KEPT_MS);
            }
            assertThat(Files.size(file)).isLessThan(2_000 * 250);
        }
        try (Ledger ledger = Ledger.open(file)) {
            assertThat(ledger.entries()).isEmpty();
            assertThat(Files.size(file)).isLessThan(250);
        }
    }
}
