package org.cloister.host.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.cloister.host.HostMetrics;
import org.cloister.host.ledger.End.Why;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.ledger.Owners;
import org.cloister.host.vm.VmOwner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnderTest {
    private static final VmOwner OWNER = Owners.owner(1);

    @TempDir
    private Path folder;

    private final List<VmOwner> cut = new ArrayList<>();

    private Ender ender(Ledger ledger, Ender.Cut off) {
        HostMetrics metrics = new HostMetrics(ledger::entries, Duration.ofSeconds(60), () -> Instant.EPOCH);
        return new Ender(ledger, metrics, () -> {}, off, () -> Instant.EPOCH);
    }

    @Test
    void what_is_written_down_is_left_to_the_rounds() throws Exception {
        try (Ledger ledger = Ledger.open(folder.resolve("ledger"))) {
            ledger.claim(Entry.claim(OWNER, false, 1));
            ender(ledger, cut::add).fence(OWNER.uuid(), Why.DRIVE_TAKEN);
            assertThat(ledger.entry(OWNER.uuid()).flatMap(Entry::end))
                    .hasValueSatisfying(end -> assertThat(end.why()).isEqualTo(Why.DRIVE_TAKEN));
            assertThat(cut).isEmpty();
        }
    }

    @Test
    void a_ledger_that_cannot_be_written_keeps_no_vm_on_a_drive_that_is_not_its_own() throws Exception {
        Ledger ledger = Ledger.open(folder.resolve("ledger"));
        ledger.claim(Entry.claim(OWNER, false, 1));
        ledger.close();
        assertThatThrownBy(() -> ender(ledger, cut::add).fence(OWNER.uuid(), Why.DRIVE_SILENT))
                .isInstanceOf(IOException.class);
        assertThat(cut).containsExactly(OWNER);
        assertThat(ledger.entry(OWNER.uuid()).flatMap(Entry::end)).isEmpty();
        Ender.Cut silent = owner -> {
            throw new IOException("libvirtd is silent");
        };
        assertThatThrownBy(() -> ender(ledger, silent).fence(OWNER.uuid(), Why.DRIVE_SILENT))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("nor is it cut off: libvirtd is silent");
    }
}
