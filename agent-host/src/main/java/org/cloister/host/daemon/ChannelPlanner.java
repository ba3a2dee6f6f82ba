package org.cloister.host.daemon;

import java.util.Set;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.Opening;

/** The channel of a VM, from its plan alone: the same after a restart. */
final class ChannelPlanner {
    private ChannelPlanner() {}

    /** A VM speaks for one name: a worker for its slot's, a controlling VM for its drive's. */
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
