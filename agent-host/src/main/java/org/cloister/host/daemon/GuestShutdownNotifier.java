package org.cloister.host.daemon;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTimeouts;

/**
 * Notifies guests that are asked to shut down through their channels, at once and again after a restart; the ledger
 * records which VMs these are.
 */
record GuestShutdownNotifier(VmLedger ledger, VmTimeouts times, InstantSource clock, VmChannels channels) {
    /**
     * Notifies a guest right after its end was recorded, without waiting for the next reconcile pass, which may be
     * long.
     */
    void onEndRecorded(String uuid) {
        ledger.entry(uuid).ifPresent(this::notifyGuest);
    }

    void notifyGuest(VmLedgerEntry entry) {
        left(entry).ifPresent(time -> channels.requestShutdown(entry.owner().uuid(), time));
    }

    /**
     * Returns whether the VM's channel should stay open: also during its shutdown, until the time for that has passed.
     */
    boolean mayUseChannel(VmLedgerEntry entry) {
        return entry.end().isEmpty() || left(entry).isPresent();
    }

    private Optional<Duration> left(VmLedgerEntry entry) {
        return entry.end().flatMap(end -> times.powerOffTimeLeft(end, clock.millis()));
    }
}
