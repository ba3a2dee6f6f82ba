package org.cloister.host.daemon;

import java.util.Set;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.Opening;

/** Plans a VM's channel from the VM's plan alone, so that the result is the same after a restart. */
final class ChannelPlanner {
    private ChannelPlanner() {}

    /**
     * Returns the channel's plan. A VM has one name: a worker VM that of its slot, a controlling VM that of its drive.
     */
    static ChannelPlan of(VmPlan plan) {
        return new ChannelPlan(plan.owner(), plan.domain().channel(), Set.of(name(plan)), plan.facts());
    }

    static CertificateName name(VmPlan plan) {
        ResourceOwner owner = plan.owner();
        return plan.drive()
                .map(use -> Opening.controller(use.drive().name(), owner.project()))
                .orElseGet(() -> WorkerName.of(owner.ticket(), owner.slot(), owner.project()));
    }
}
