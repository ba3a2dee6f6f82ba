package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.host.scratch.SmallFileSystem;
import org.cloister.host.vm.StartFailed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ledger on a real file system that is full. */
class VmLedgerFullDiskTest {
    @TempDir
    private Path path;

    @Test
    void what_cannot_be_written_did_not_happen_and_what_was_written_stands() throws Exception {
        try (SmallFileSystem disk = SmallFileSystem.tmpfs(path.resolve("m"), 1)) {
            Path file = disk.folder().resolve("ledger");
            int written = 0;
            Path other = disk.folder();
            try (VmLedger ledger = VmLedger.open(file)) {
                ledger.claim(VmLedgerEntry.claim(ResourceOwners.owner(written++), true, 0));
                other = disk.fill();
                written += claimUntilFull(ledger);
                assertThat(ledger.entries()).hasSize(written);
            }
            // Opened on the full disk, as after a crash: it goes on, and again refuses.
            try (VmLedger ledger = VmLedger.open(file)) {
                assertThat(ledger.entries()).hasSize(written);
                Files.delete(other);
                ledger.claim(VmLedgerEntry.claim(ResourceOwners.owner(1000), true, 0));
            }
            try (VmLedger ledger = VmLedger.open(file)) {
                assertThat(ledger.entries()).hasSize(written + 1);
            }
        }
    }

    private static int claimUntilFull(VmLedger ledger) throws StartFailed, IOException {
        // A page of the file holds some lines yet.
        for (int i = 1; i < 100; i++) {
            try {
                ledger.claim(VmLedgerEntry.claim(ResourceOwners.owner(i), true, 0));
            } catch (IOException e) {
                int refused = i;
                assertThat(e)
                        .hasMessageContaining(
                                "cannot be written: No space left on device; free space on its file system");
                assertThatThrownBy(() -> ledger.claim(VmLedgerEntry.claim(ResourceOwners.owner(refused), true, 0)))
                        .isInstanceOf(IOException.class);
                return i - 1;
            }
        }
        throw new AssertionError("the disk is not full");
    }
}
