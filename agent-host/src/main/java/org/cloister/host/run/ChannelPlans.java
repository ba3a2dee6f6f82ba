package org.cloister.host.run;

import java.util.Locale;
import java.util.Set;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.Name;

/** The channel of a VM, from its plan alone: the same after a restart. */
final class ChannelPlans {
    private ChannelPlans() {}

    /** A VM speaks for one name: its domain's, of its role in its project. */
    static ChannelPlan of(VmPlan plan) {
        VmOwner owner = plan.owner();
        VmFacts facts = plan.facts();
        Name name = new Name(owner.name().label(), facts.role().toString().toLowerCase(Locale.ROOT), owner.project());
        return new ChannelPlan(owner, plan.domain().channel(), Set.of(name), facts);
    }
}
