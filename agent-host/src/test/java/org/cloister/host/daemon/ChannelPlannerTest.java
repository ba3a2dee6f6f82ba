package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.junit.jupiter.api.Test;

/** The one name that a VM's port may serve is the one that its assignment has. */
class ChannelPlannerTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(3);

    @Test
    void a_worker_is_called_by_ticket_and_slot() {
        VmPlan plan = VmPlanSamples.plain(OWNER);
        CertificateName name = WorkerName.of(OWNER.ticket(), OWNER.slot(), OWNER.project());
        assertThat(ChannelPlanner.name(plan)).isEqualTo(name);
        assertThat(ChannelPlanner.of(plan).names()).containsExactly(name);
    }

    @Test
    void a_controlling_vm_is_called_by_its_drive_whichever_opening_it_is_of() {
        VmPlan plan = VmPlanSamples.withDrive(OWNER);
        VmPlan later = VmPlanSamples.withDrive(ResourceOwners.owner(4));
        CertificateName name = ChannelPlanner.name(plan);
        assertThat(name.id()).isEqualTo(plan.drive().orElseThrow().drive().name());
        assertThat(name.role()).isEqualTo(CertificateRole.CONTROLLER.toString());
        assertThat(ChannelPlanner.of(plan).names()).containsExactly(name);
        assertThat(ChannelPlanner.name(later)).isEqualTo(name);
    }
}
