package org.cloister.host.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepAllocation;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.junit.jupiter.api.Test;

class ControllerVmPlannerTest {
    private static final ResourceOwner OWNER = new ResourceOwner(
            WorkerVmPlannerTest.OWNER.project(),
            WorkerVmPlannerTest.OWNER.ticket(),
            0,
            WorkerVmPlannerTest.OWNER.globalJob(),
            WorkerVmPlannerTest.OWNER.uuid());
    private static final DriveClaim USE = new DriveClaim(new DriveName(OWNER.project(), "main"), 12);
    private static final Path DRIVE = Path.of("/srv/drives").resolve(USE.drive().file());

    private static VmPlan plan(String network, StepAllocation stepAllocation) throws Exception {
        ProjectSubnet its = ProjectSubnet.parse(network);
        AllocatedSlot slot = new AllocatedSlot(
                0,
                "n0",
                CertificateName.parse("n0.host.site.cloister.internal"),
                WorkerVmPlannerTest.key(),
                its.controller(),
                4,
                4000);
        Allocation allocation = new Allocation(
                CertificateName.parse("r1.relay.site.cloister.internal"),
                OWNER.project(),
                OWNER.ticket(),
                Digest.sha256(new byte[] {1}),
                OWNER.globalJob(),
                Instant.parse("2026-11-22T12:00:00Z"),
                301,
                its,
                List.of(slot));
        return ControllerVmPlanner.plan(
                new ControllerVmPlanner.SignedInputs(USE, allocation, slot),
                OWNER,
                stepAllocation,
                WorkerVmPlannerTest.image(),
                WorkerVmPlannerTest.plain(),
                new ControllerVmPlanner.VmPaths(WorkerVmPlannerTest.FOLDER, DRIVE));
    }

    @Test
    void a_controlling_vm_has_its_drive_and_no_scratch() throws Exception {
        VmPlan plan = plan("10.64.12.0/24", WorkerVmPlannerTest.stepAllocation("4-7", 4000));
        assertThat(plan.domain().disks()).last().isEqualTo(new DomainDisk(DRIVE, "drive", DomainDisk.Use.WRITABLE));
        assertThat(plan.domain().disks())
                .filteredOn(disk -> disk.use() == DomainDisk.Use.WRITABLE)
                .hasSize(1);
        assertThat(plan.scratchBytes()).isEmpty();
        assertThat(plan.drive()).contains(USE);
        assertThat(plan.facts().role()).isEqualTo(VmRole.CONTROLLER);
        assertThat(plan.facts().shape()).isEqualTo(new VmShape(4, 3899, 0));
        assertThat(plan.sharing()).isEqualTo(HostSharing.ANY);
    }

    @Test
    void it_talks_to_every_worker_that_its_project_may_have_and_to_nobody_else() throws Exception {
        VmPlan plan = plan("10.64.12.0/24", WorkerVmPlannerTest.stepAllocation("0-3", 4000));
        assertThat(plan.port().role()).isEqualTo(PortRole.CONTROLLER);
        assertThat(plan.port().self()).hasToString("52:54:0a:40:0c:01=10.64.12.1");
        assertThat(plan.domain().mac()).isEqualTo(plan.port().self().mac());
        assertThat(plan.port().egress()).isNull();
        assertThat(plan.port().vlan()).isEqualTo(301);
        assertThat(plan.port().peers()).hasSize(253).doesNotContain(plan.port().self());
        assertThat(plan.port().peers().stream().map(Endpoint::toString))
                .contains("52:54:0a:40:0c:02=10.64.12.2", "52:54:0a:40:0c:fe=10.64.12.254")
                .doesNotContain("52:54:0a:40:0c:ff=10.64.12.255");
    }

    @Test
    void a_network_with_more_stations_than_a_port_takes_is_refused() throws Exception {
        assertThat(plan("10.64.0.0/20", WorkerVmPlannerTest.stepAllocation("0-3", 4000))
                        .port()
                        .peers())
                .hasSize(4093);
        assertThatThrownBy(() -> plan("10.64.0.0/19", WorkerVmPlannerTest.stepAllocation("0-3", 4000)))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("network.prefix");
    }

    @Test
    void it_is_no_larger_than_its_step_as_a_worker_is() {
        assertThatThrownBy(() -> plan("10.64.12.0/24", WorkerVmPlannerTest.stepAllocation("0-4", 4000)))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.HOST))
                .hasMessageContaining("has 5 CPUs, and the allocation says 4");
    }
}
