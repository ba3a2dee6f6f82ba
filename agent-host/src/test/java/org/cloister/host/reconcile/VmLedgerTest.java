package org.cloister.host.reconcile;

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
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmLedgerTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);
    private static final VmLedgerEntry ENTRY = VmLedgerEntry.claim(OWNER, true, 1_000);
    private static final VmTermination END = new VmTermination(VmTermination.Why.LOST, "SCRATCH", 5_000);

    @TempDir(factory = InMemoryFolder.class)
    private Path folder;

    private Path file = Path.of("ledger");

    @BeforeEach
    void name() {
        file = folder.resolve("ledger");
    }

    @Test
    void what_was_written_is_there_again_as_it_was_last() throws Exception {
        VmLedgerEntry second = VmLedgerEntry.claim(ResourceOwners.owner(2), false, 2_000);
        try (VmLedger ledger = VmLedger.open(file)) {
            ledger.claim(ENTRY);
            ledger.claim(second);
            ledger.claim(VmLedgerEntry.claim(ResourceOwners.owner(3), false, 2_000));
            assertThat(ledger.recordStep(OWNER.uuid(), VmStartStep.OVERLAY)).isTrue();
            ledger.recordEnd(OWNER.uuid(), END);
            ledger.recordEnd(OWNER.uuid(), new VmTermination(VmTermination.Why.ASKED, "", 6_000));
            ledger.forget(ResourceOwners.owner(3).uuid(), 7_000);
        }
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        try (VmLedger ledger = VmLedger.open(file)) {
            assertThat(ledger.entries())
                    .containsExactly(ENTRY.at(VmStartStep.OVERLAY).ending(END), second);
        }
    }

    @Test
    void a_line_that_a_crash_cut_short_counts_for_nothing_at_every_length() throws Exception {
        try (VmLedger ledger = VmLedger.open(file)) {
            ledger.claim(ENTRY);
        }
        byte[] before = Files.readAllBytes(file);
        try (VmLedger ledger = VmLedger.open(file)) {
            ledger.recordStep(OWNER.uuid(), VmStartStep.OVERLAY);
        }
        byte[] after = Files.readAllBytes(file);
        for (int length = before.length; length < after.length; length++) {
            Files.write(file, Arrays.copyOf(after, length));
            try (VmLedger ledger = VmLedger.open(file)) {
                assertThat(ledger.entries()).as("cut to " + length).containsExactly(ENTRY);
            }
            // As after a loss of power: the length is on disk, and bytes are not, or only the last page's.
            byte[] zeros = Arrays.copyOf(Arrays.copyOf(after, length), after.length);
            Files.write(file, zeros);
            try (VmLedger ledger = VmLedger.open(file)) {
                assertThat(ledger.entries()).as("zeros from " + length).containsExactly(ENTRY);
            }
            zeros[after.length - 1] = '\n';
            if (length < after.length - 1) {
                Files.write(file, zeros);
                try (VmLedger ledger = VmLedger.open(file)) {
                    assertThat(ledger.entries())
                            .as("a line end after zeros from " + length)
                            .containsExactly(ENTRY);
                }
            }
        }
    }

    @Test
    void a_byte_that_changed_amid_others_is_not_passed_over() throws Exception {
        try (VmLedger ledger = VmLedger.open(file)) {
            ledger.claim(ENTRY);
            ledger.recordStep(OWNER.uuid(), VmStartStep.OVERLAY);
        }
        byte[] whole = Files.readAllBytes(file);
        int last = new String(whole, StandardCharsets.US_ASCII).lastIndexOf('\n', whole.length - 2);
        for (int at = 0; at < last; at++) {
            byte[] changed = whole.clone();
            changed[at] ^= 1;
            Files.write(file, changed);
            assertThatThrownBy(() -> VmLedger.open(file).close())
                    .as("byte " + at)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("move the file away");
        }
    }

    @Test
    void a_line_of_a_later_version_is_refused_and_not_dropped() throws Exception {
        VmLedger.open(file).close();
        Files.writeString(file, LedgerJournal.line("paint it red"), StandardOpenOption.APPEND);
        assertThatThrownBy(() -> VmLedger.open(file)).hasMessageContaining("line 2: want put, drop or spent");
    }

    @Test
    void words_that_no_ledger_writes_do_not_parse() {
        String put = new JournalRecord.Put(ENTRY.ending(END)).text();
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
            assertThatThrownBy(() -> JournalRecord.parse(text)).as(text).isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void a_place_starts_one_vm_and_never_another() throws Exception {
        VmLedgerEntry again = VmLedgerEntry.claim(ResourceOwners.again(OWNER), true, 9_000);
        try (VmLedger ledger = VmLedger.open(file)) {
            assertThat(ledger.hasTicket(OWNER.ticket())).isFalse();
            ledger.claim(ENTRY);
            assertThat(ledger.hasTicket(OWNER.ticket())).isTrue();
            assertThatThrownBy(() -> ledger.claim(again))
                    .isInstanceOfSatisfying(
                            StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                    .hasMessageContaining("has the VM " + OWNER.uuid());
            ledger.forget(OWNER.uuid(), 8_000);
            assertThatThrownBy(() -> ledger.claim(again)).hasMessageContaining("its VM ended at 1970-01-01T00:00:08Z");
        }
        // Twice, since opening writes the file anew.
        VmLedger.open(file).close();
        try (VmLedger ledger = VmLedger.open(file)) {
            assertThat(ledger.hasTicket(OWNER.ticket())).isTrue();
            assertThatThrownBy(() -> ledger.claim(again))
                    .isInstanceOfSatisfying(
                            StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED));
            ledger.claim(VmLedgerEntry.claim(ResourceOwners.again(OWNER), true, 8_000 + SpentSlot.KEPT_MS));
        }
    }

    @Test
    void a_name_that_another_vm_has_is_refused() throws Exception {
        String ticket = OWNER.ticket().substring(0, 20) + "zzzzzz";
        ResourceOwner twin = new ResourceOwner(
                OWNER.project(),
                ticket,
                OWNER.slot(),
                7,
                ResourceOwners.again(OWNER).uuid());
        try (VmLedger ledger = VmLedger.open(file)) {
            ledger.claim(ENTRY);
            assertThatThrownBy(() -> ledger.claim(VmLedgerEntry.claim(twin, true, 0)))
                    .isInstanceOfSatisfying(
                            StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                    .hasMessageContaining("has the same name");
        }
    }

    @Test
    void what_ends_begins_nothing_and_no_step_is_left_out() throws Exception {
        try (VmLedger ledger = VmLedger.open(file)) {
            ledger.claim(ENTRY);
            assertThatThrownBy(() -> ledger.recordStep(OWNER.uuid(), VmStartStep.TAP))
                    .hasMessageContaining("want what follows CLAIMED, have TAP");
            ledger.recordEnd(OWNER.uuid(), END);
            assertThat(ledger.recordStep(OWNER.uuid(), VmStartStep.OVERLAY)).isFalse();
            assertThat(ledger.recordStep(ResourceOwners.owner(2).uuid(), VmStartStep.OVERLAY))
                    .isFalse();
        }
    }

    @Test
    void one_process_has_it() throws Exception {
        try (VmLedger ledger = VmLedger.open(file)) {
            assertThatThrownBy(() -> VmLedger.open(file)).hasMessageContaining("another process has locked it");
            assertThat(ledger.entries()).isEmpty();
        }
        VmLedger.open(file).close();
    }

    @Test
    void a_ledger_of_which_nobody_knows_what_is_on_disk_ends_the_process() throws Exception {
        List<String> fatal = new ArrayList<>();
        try (VmLedger ledger = VmLedger.open(file, fatal::add)) {
            ledger.claim(ENTRY);
            assertThat(fatal).isEmpty();
            // It closes the file under the one who writes.
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> ledger.recordEnd(OWNER.uuid(), END))
                    .hasMessageContaining("ClosedByInterruptException");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(fatal)
                    .containsExactly("ledger " + file + ": its content on disk is unknown: ClosedByInterruptException");
            assertThatThrownBy(() -> ledger.recordEnd(OWNER.uuid(), END)).isInstanceOf(UncheckedIOException.class);
            assertThat(fatal).hasSize(2);
        }
    }

    @Test
    void it_does_not_grow_with_time() throws Exception {
        try (VmLedger ledger = VmLedger.open(file)) {
            for (int i = 0; i < 1_500; i++) {
                ResourceOwner owner = ResourceOwners.owner(i);
                ledger.claim(VmLedgerEntry.claim(owner, false, i * SpentSlot.KEPT_MS));
                ledger.forget(owner.uuid(), i * SpentSlot.KEPT_MS);
            }
            assertThat(Files.size(file)).isLessThan(2_000 * 250);
        }
        try (VmLedger ledger = VmLedger.open(file)) {
            assertThat(ledger.entries()).isEmpty();
            assertThat(Files.size(file)).isLessThan(250);
        }
    }
}
