package org.cloister.host.run;

import java.util.Set;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.Opening;

/** The channel of a VM, from its plan alone: the same after a restart. */
final class ChannelPlans {
    private ChannelPlans() {}

    /** A VM speaks for one name: a worker for its slot's, a controlling VM for its drive's. */
    static ChannelPlan of(VmPlan plan) {
        return new ChannelPlan(plan.owner(), plan.domain().channel(), Set.of(name(plan)), plan.facts());
    }

    static Name name(VmPlan plan) {
        VmOwner owner = plan.owner();
        return plan.drive()
                .map(use -> Opening.controller(use.drive().name(), owner.project()))
                .orElseGet(() -> SlotName.of(owner.ticket(), owner.slot(), owner.project()));
    }
}
