package org.cloister.host.run;

import java.util.Set;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.policy.VmRole;

/** The channel of a VM, from its plan alone: the same after a restart. */
final class ChannelPlans {
    private ChannelPlans() {}

    /** A VM speaks for one name: its domain's, of its role in its project. */
    static ChannelPlan of(VmPlan plan) {
        return new ChannelPlan(plan.owner(), plan.domain().channel(), Set.of(name(plan)), plan.facts());
    }

    static Name name(VmPlan plan) {
        VmOwner owner = plan.owner();
        Role role = plan.facts().role() == VmRole.WORKER ? Role.WORKER : Role.CONTROLLER;
        return SlotName.of(owner.ticket(), owner.slot(), role, owner.project());
    }
}
