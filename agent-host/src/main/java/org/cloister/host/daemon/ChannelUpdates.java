package org.cloister.host.daemon;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.channel.VmEvidenceIssuer;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.reconcile.VmTimeouts;
import org.cloister.host.resources.VmFolders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the VMs' channels in line with the ledger after a reconcile pass, and ends VMs whose agent hangs. */
record ChannelUpdates(
        VmLedger ledger,
        VmFolders folders,
        VmTimeouts times,
        VmChannels channels,
        VmEvidenceIssuer evidence,
        GuestShutdownNotifier shutdownNotifier,
        VmTerminator terminator) {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelUpdates.class);

    void update() {
        List<VmLedgerEntry> entries = ledger.entries();
        reconcileChannels(entries);
        entries.forEach(this::endIfUnresponsive);
        retainEvidence();
    }

    /**
     * Gives each running or starting VM a channel; a VM that is asked to shut down keeps it until its time for that has
     * passed.
     */
    private void reconcileChannels(List<VmLedgerEntry> entries) {
        channels.reconcile(ChannelPlanner.plans(entries, folders, shutdownNotifier::mayUseChannel));
        entries.forEach(shutdownNotifier::notifyGuest);
    }

    /** A guest that hangs would otherwise keep its node and its drive until the job's time limit. */
    private void endIfUnresponsive(VmLedgerEntry entry) {
        String uuid = entry.owner().uuid();
        Duration without = channels.withoutSession(uuid);
        if (!times.isUnresponsive(entry, without)) {
            return;
        }
        LOG.warn(
                "VM {} of ticket {}: its agent has had no session with this host for {} s; ending the VM",
                uuid,
                entry.owner().ticket(),
                without.toSeconds());
        try {
            terminator.terminate(uuid, VmTermination.Why.UNRESPONSIVE);
        } catch (IOException e) {
            LOG.error("the end of VM {} cannot be recorded and is retried: {}", uuid, e.getMessage());
        }
    }

    private void retainEvidence() {
        try {
            evidence.retain(
                    () -> ledger.entries().stream().map(VmLedgerEntry::owner).toList());
        } catch (IOException e) {
            LOG.warn("evidence statements of former VMs cannot be deleted: {}", e.getMessage());
        }
    }
}
