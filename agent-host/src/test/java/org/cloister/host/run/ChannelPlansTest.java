package org.cloister.host.run;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.host.ledger.Owners;
import org.cloister.host.machine.PlanSamples;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.junit.jupiter.api.Test;

/** The one name that a VM's port may serve is the one that its assignment has. */
class ChannelPlansTest {
    private static final VmOwner OWNER = Owners.owner(3);

    @Test
    void a_worker_is_called_by_ticket_and_slot() {
        VmPlan plan = PlanSamples.plain(OWNER);
        Name name = SlotName.of(OWNER.ticket(), OWNER.slot(), OWNER.project());
        assertThat(ChannelPlans.name(plan)).isEqualTo(name);
        assertThat(ChannelPlans.of(plan).names()).containsExactly(name);
    }

    @Test
    void a_controlling_vm_is_called_by_its_drive_whichever_opening_it_is_of() {
        VmPlan plan = PlanSamples.withDrive(OWNER);
        VmPlan later = PlanSamples.withDrive(Owners.owner(4));
        Name name = ChannelPlans.name(plan);
        assertThat(name.id()).isEqualTo(plan.drive().orElseThrow().drive().name());
        assertThat(name.role()).isEqualTo(Role.CONTROLLER.toString());
        assertThat(ChannelPlans.of(plan).names()).containsExactly(name);
        assertThat(ChannelPlans.name(later)).isEqualTo(name);
    }
}
