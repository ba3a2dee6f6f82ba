package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination.Why;
import org.cloister.host.vm.ResourceOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmTerminatorTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(1);

    @TempDir
    private Path folder;

    private final List<ResourceOwner> cut = new ArrayList<>();

    private VmTerminator terminator(VmLedger ledger, VmTerminator.DomainDestroyer off) {
        HostMetrics metrics = new HostMetrics(ledger::entries, Duration.ofSeconds(60), () -> Instant.EPOCH);
        return new VmTerminator(ledger, metrics, () -> {}, off, () -> Instant.EPOCH);
    }

    @Test
    void what_is_written_down_is_left_to_the_rounds() throws Exception {
        try (VmLedger ledger = VmLedger.open(folder.resolve("ledger"))) {
            ledger.claim(VmLedgerEntry.claim(OWNER, false, 1));
            terminator(ledger, cut::add).fence(OWNER.uuid(), Why.DRIVE_TAKEN);
            assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end))
                    .hasValueSatisfying(end -> assertThat(end.why()).isEqualTo(Why.DRIVE_TAKEN));
            assertThat(cut).isEmpty();
        }
    }

    @Test
    void a_ledger_that_cannot_be_written_keeps_no_vm_on_a_drive_that_is_not_its_own() throws Exception {
        VmLedger ledger = VmLedger.open(folder.resolve("ledger"));
        ledger.claim(VmLedgerEntry.claim(OWNER, false, 1));
        ledger.close();
        assertThatThrownBy(() -> terminator(ledger, cut::add).fence(OWNER.uuid(), Why.DRIVE_SILENT))
                .isInstanceOf(IOException.class);
        assertThat(cut).containsExactly(OWNER);
        assertThat(ledger.entry(OWNER.uuid()).flatMap(VmLedgerEntry::end)).isEmpty();
        VmTerminator.DomainDestroyer silent = owner -> {
            throw new IOException("libvirtd is silent");
        };
        assertThatThrownBy(() -> terminator(ledger, silent).fence(OWNER.uuid(), Why.DRIVE_SILENT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the domain cannot be destroyed: libvirtd is silent");
    }
}
