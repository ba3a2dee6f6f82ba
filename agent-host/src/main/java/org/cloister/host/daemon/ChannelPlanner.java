package org.cloister.host.daemon;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.Opening;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plans a VM's channel from the VM's plan alone, so that the result is the same after a restart. */
final class ChannelPlanner {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelPlanner.class);

    private ChannelPlanner() {}

    /**
     * Returns the channel's plan. A VM has one name: a worker VM that of its slot, a controlling VM that of its drive.
     */
    static ChannelPlan of(VmPlan plan) {
        return new ChannelPlan(plan.owner(), plan.domain().channel(), Set.of(name(plan)), plan.facts());
    }

    /** Plans the channels of VMs that run or start and may use one. Logs and omits a VM whose plan is unreadable. */
    static List<ChannelPlan> plans(
            List<VmLedgerEntry> entries, VmFolders folders, Predicate<VmLedgerEntry> mayUseChannel) {
        List<ChannelPlan> plans = new ArrayList<>();
        for (VmLedgerEntry entry : entries) {
            if (entry.step().compareTo(VmStartStep.RUNNING) >= 0 && mayUseChannel.test(entry)) {
                try {
                    plans.add(of(folders.plan(entry.owner())));
                } catch (IOException e) {
                    LOG.error(
                            "the channel of VM {} cannot be opened: {}",
                            entry.owner().uuid(),
                            e.getMessage());
                }
            }
        }
        return plans;
    }

    static CertificateName name(VmPlan plan) {
        ResourceOwner owner = plan.owner();
        return plan.drive()
                .map(use -> Opening.controller(use.drive().name(), owner.project()))
                .orElseGet(() -> WorkerName.of(owner.ticket(), owner.slot(), owner.project()));
    }
}
