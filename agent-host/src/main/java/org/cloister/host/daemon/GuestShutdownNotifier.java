package org.cloister.host.daemon;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTimeouts;

/** Tells VMs that are asked to end so on their channels, at once and after a restart; the ledger knows who they are. */
record GuestShutdownNotifier(VmLedger ledger, VmTimeouts times, InstantSource clock, VmChannels channels) {
    /** That it is to end has just been written down, whoever wished it: a round may be long. */
    void onEndRecorded(String uuid) {
        ledger.entry(uuid).ifPresent(this::notifyGuest);
    }

    void notifyGuest(VmLedgerEntry entry) {
        left(entry).ifPresent(time -> channels.requestShutdown(entry.owner().uuid(), time));
    }

    /** Whether what it says is still somebody's business. */
    boolean mayUseChannel(VmLedgerEntry entry) {
        return entry.end().isEmpty() || left(entry).isPresent();
    }

    private Optional<Duration> left(VmLedgerEntry entry) {
        return entry.end().flatMap(end -> times.powerOffTimeLeft(end, clock.millis()));
    }
}
