package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A slot is spent for good, whatever stops the controlling VM. */
class HandoverLedgerTest {
    private static final String TICKET = "b".repeat(26);
    private static final String NONCE = "0".repeat(64);

    @TempDir
    private Path folder;

    private static void record(HandoverLedger records, String ticket, int slot, String nonce, long policy)
            throws IOException {
        HandoverLedger.SpentSlot spent = records.spend(ticket, slot, nonce, policy);
        try {
            records.write(List.of(spent));
        } catch (IOException e) {
            records.restore(spent);
            throw e;
        }
    }

    @Test
    void what_was_spent_is_spent_after_a_start_and_counts_for_its_policy() throws IOException {
        HandoverLedger records = HandoverLedger.open(folder);
        assertThat(records.isSpent(TICKET, 0)).isFalse();
        record(records, TICKET, 0, NONCE, 7);
        record(records, TICKET, 3, NONCE, 7);
        for (HandoverLedger each : new HandoverLedger[] {records, HandoverLedger.open(folder)}) {
            assertThat(each.isSpent(TICKET, 0)).isTrue();
            assertThat(each.isSpent(TICKET, 3)).isTrue();
            assertThat(each.isSpent(TICKET, 1)).isFalse();
            assertThat(each.isSpent("c".repeat(26), 0)).isFalse();
            assertThat(each.handoverCount(7)).isEqualTo(2);
            assertThat(each.handoverCount(8)).isZero();
        }
    }

    @Test
    void a_ticket_that_has_ended_leaves_nothing_but_its_count() throws IOException {
        HandoverLedger records = HandoverLedger.open(folder);
        record(records, TICKET, 0, NONCE, 7);
        records.forget(TICKET);
        records.delete(TICKET);
        assertThat(records.isSpent(TICKET, 0)).isFalse();
        try (var files = Files.list(folder)) {
            assertThat(files).extracting(Path::getFileName).containsExactly(Path.of("releases"));
        }
        assertThat(HandoverLedger.open(folder).handoverCount(7)).isEqualTo(1);
    }

    @Test
    void slots_are_spent_at_once_and_written_together_in_any_order_of_tickets() throws IOException {
        HandoverLedger records = HandoverLedger.open(folder);
        String other = "c".repeat(26);
        HandoverLedger.SpentSlot first = records.spend(TICKET, 0, NONCE, 7);
        HandoverLedger.SpentSlot second = records.spend(other, 0, NONCE, 7);
        HandoverLedger.SpentSlot third = records.spend(TICKET, 1, NONCE, 7);
        assertThat(records.isSpent(other, 0)).isTrue();
        assertThat(HandoverLedger.open(folder).isSpent(other, 0)).isFalse();
        records.write(List.of(first, third));
        records.write(List.of(second));
        HandoverLedger reopened = HandoverLedger.open(folder);
        assertThat(reopened.isSpent(TICKET, 0)).isTrue();
        assertThat(reopened.isSpent(TICKET, 1)).isTrue();
        assertThat(reopened.isSpent(other, 0)).isTrue();
        assertThat(reopened.handoverCount(7)).isEqualTo(3);
    }

    @Test
    void a_new_policy_counts_from_zero() throws IOException {
        HandoverLedger records = HandoverLedger.open(folder);
        record(records, TICKET, 0, NONCE, 7);
        record(records, TICKET, 1, NONCE, 8);
        assertThat(records.handoverCount(8)).isEqualTo(1);
        assertThat(records.handoverCount(7)).isZero();
    }

    @Test
    void a_line_that_was_cut_off_was_no_hand_over_and_does_not_spoil_the_next() throws IOException {
        record(HandoverLedger.open(folder), TICKET, 0, NONCE, 7);
        Path file = folder.resolve(TICKET + ".spent");
        Files.writeString(file, "1 000", StandardOpenOption.APPEND);
        HandoverLedger records = HandoverLedger.open(folder);
        assertThat(records.isSpent(TICKET, 1)).isFalse();
        record(records, TICKET, 2, NONCE, 7);
        assertThat(HandoverLedger.open(folder).isSpent(TICKET, 2)).isTrue();
        assertThat(file).content().isEqualTo("0 " + NONCE + "\n2 " + NONCE + "\n");
    }

    @Test
    void what_is_none_of_ours_is_refused_with_its_place() throws IOException {
        Path file = folder.resolve(TICKET + ".spent");
        Files.writeString(file, "0 " + NONCE + "\nhello\n");
        assertThatThrownBy(() -> HandoverLedger.open(folder)).hasMessageContaining(file + ":2:");
        Files.delete(file);
        Files.writeString(folder.resolve("x.spent"), "");
        assertThatThrownBy(() -> HandoverLedger.open(folder)).hasMessageContaining("want a ticket's id");
        Files.delete(folder.resolve("x.spent"));
        Files.writeString(folder.resolve("releases"), "{}");
        assertThatThrownBy(() -> HandoverLedger.open(folder)).hasMessageContaining("releases");
    }

    @Test
    void a_line_that_a_full_disk_cut_off_is_taken_back() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a mount is root's to make");
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assertThat(run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk.toString()))
                .isZero();
        try {
            Path file = Files.createSymbolicLink(folder.resolve(TICKET + ".spent"), disk.resolve("spent"));
            // 61 lines of 67 bytes: nine are left of a page.
            Files.writeString(file, ("0 " + NONCE + "\n").repeat(61));
            Path other = disk.resolve("other");
            assertThatThrownBy(() -> Files.write(other, new byte[1 << 20])).hasMessageContaining("No space");
            HandoverLedger records = HandoverLedger.open(folder);
            assertThatThrownBy(() -> record(records, TICKET, 1, NONCE, 7)).hasMessageContaining("No space");
            assertThat(records.isSpent(TICKET, 1)).isFalse();
            Files.delete(other);
            record(records, TICKET, 2, NONCE, 7);
            HandoverLedger reopened = HandoverLedger.open(folder);
            assertThat(reopened.isSpent(TICKET, 1)).isFalse();
            assertThat(reopened.isSpent(TICKET, 2)).isTrue();
        } finally {
            run("umount", disk.toString());
        }
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
