package org.cloister.host.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.cloister.base.encoding.Digest;
import org.cloister.host.domain.Accelerator;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.MemoryBacking;
import org.cloister.host.domain.SevCapabilities;
import org.cloister.host.domain.SevDecision;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.scratch.ScratchFileName;
import org.cloister.host.slurmstep.StepAllocation;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.image.ImageManifest;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.MemoryReserve;
import org.cloister.protocol.ticket.MemoryReserves;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.protocol.ticket.ResourceRequest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WorkerVmPlannerTest {
    static final ResourceOwner OWNER = new ResourceOwner(
            "mfrggzdfmztwq2lknnwg23tpobmfrggzdfmztwq2lknnwg23tpoq",
            "mfrggzdfmztwq2lknnwg23tpob",
            1,
            4711,
            "0b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f");
    /** Each a MiB more than that: a part of what it is a part of is rounded up. */
    private static final MemoryReserves RESERVES =
            new MemoryReserves(new MemoryReserve(200, 1 << 20), new MemoryReserve(100, 1 << 20));

    static final Path FOLDER = Path.of("/var/lib/cloister/host/vms/x");
    private static final long MIB = 1 << 20;

    private GuestImage image;
    private Allocation allocation;

    @BeforeEach
    void sign() throws Exception {
        image = image();
        allocate(4, 4000);
    }

    private void allocate(int cpus, int memoryMib) throws Exception {
        List<AllocatedSlot> slots = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            slots.add(new AllocatedSlot(
                    i,
                    "n" + i,
                    CertificateName.parse("n" + i + ".host.site.cloister.internal"),
                    key(),
                    ProjectAddress.parse("10.64.12." + (10 + i)),
                    cpus,
                    memoryMib));
        }
        allocation = new Allocation(
                CertificateName.parse("r1.relay.site.cloister.internal"),
                OWNER.project(),
                OWNER.ticket(),
                Digest.sha256(new byte[] {1}),
                OWNER.globalJob(),
                Instant.parse("2026-11-22T12:00:00Z"),
                301,
                ProjectSubnet.parse("10.64.12.0/24"),
                slots);
    }

    static GuestImage image() throws IOException {
        Path manifest =
                Path.of(System.getProperty("cloister.root")).resolve("protocol/src/test/resources/manifest/whole.json");
        return new GuestImage(
                ImageManifest.parse(Files.readAllBytes(manifest)), Path.of("/var/lib/cloister/images/1.4.2"));
    }

    static VerificationKey key() throws GeneralSecurityException, IOException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        return VerificationKey.parse(generator.generateKeyPair().getPublic().getEncoded());
    }

    private static ResourceRequest request(int scratchMib, boolean exclusive) {
        return new ResourceRequest(
                3, OptionalInt.empty(), 2, OptionalInt.empty(), 4000, scratchMib, exclusive, 60, List.of());
    }

    static StepAllocation stepAllocation(String cpus, long mib) {
        return new StepAllocation(
                Optional.of(CpuSet.parse(cpus)), OptionalInt.of(1), List.of(), OptionalLong.of(mib * MIB));
    }

    private static HostVmDefaults defaults(MemoryBacking backing, SevDecision.Mode mode) {
        return new HostVmDefaults(Accelerator.KVM, RESERVES, backing, mode, SevCapabilities.NONE, false, false, 1500);
    }

    private VmPlan plan(ResourceRequest request, StepAllocation stepAllocation, HostVmDefaults defaults)
            throws StartFailed {
        return WorkerVmPlanner.plan(
                new WorkerVmPlanner.SignedInputs(
                        request, allocation, allocation.slots().get(OWNER.slot())),
                OWNER,
                stepAllocation,
                image,
                defaults,
                new WorkerVmPlanner.VmPaths(FOLDER, Path.of("/scratch").resolve(ScratchFileName.of(OWNER))));
    }

    static HostVmDefaults plain() {
        return defaults(MemoryBacking.PLAIN, SevDecision.Mode.OFF);
    }

    @Test
    void a_worker_is_as_large_as_its_step_and_no_larger_than_its_allocation() throws Exception {
        VmPlan plan = plan(request(0, false), stepAllocation("4-7", 4000), plain());
        assertThat(plan.domain().cpus().count()).isEqualTo(4);
        assertThat(plan.domain().cpus().cpus()).hasToString("4-7");
        assertThat(plan.domain().cpus().node()).hasValue(1);
        assertThat(plan.domain().memoryMib()).isEqualTo(3899);
        assertThat(plan(request(0, false), stepAllocation("4-7", 9000), plain())
                        .domain()
                        .memoryMib())
                .isEqualTo(3899);
    }

    /** From Slurm 23.11 on a step of fewer CPUs than its job's is easily made: srun reads the batch script's environment. */
    @Test
    void a_step_of_other_cpus_or_less_memory_than_its_slot_is_refused_with_both_numbers() {
        for (String cpus : List.of("0-2", "0-4")) {
            assertThatThrownBy(() -> plan(request(0, false), stepAllocation(cpus, 4000), plain()))
                    .isInstanceOfSatisfying(
                            StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.HOST))
                    .hasMessageContaining("has " + (cpus.charAt(2) - '/') + " CPUs, and the allocation says 4");
        }
        assertThatThrownBy(() -> plan(request(0, false), stepAllocation("4-7", 3000), plain()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.HOST))
                .hasMessageContaining("has 3000 MiB, and the allocation says 4000");
    }

    @Test
    void a_step_that_slurm_does_not_hold_has_no_vm() throws Exception {
        StepAllocation noCpus =
                new StepAllocation(Optional.empty(), OptionalInt.empty(), List.of(), OptionalLong.of(4000 * MIB));
        assertThatThrownBy(() -> plan(request(0, false), noCpus, plain())).hasMessageContaining("ConstrainCores=yes");
        StepAllocation noLimit = new StepAllocation(
                Optional.of(CpuSet.parse("0-3")), OptionalInt.empty(), List.of(), OptionalLong.empty());
        assertThatThrownBy(() -> plan(request(0, false), noLimit, plain()))
                .hasMessageContaining("ConstrainRAMSpace=yes");
    }

    /** Another host would say so, too: this one is not at fault, and stays in service. */
    @Test
    void what_no_host_can_start_is_refused_to_the_ticket() throws Exception {
        allocate(4, 300);
        assertThatThrownBy(() -> plan(request(0, false), stepAllocation("0-3", 300), plain()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("300 MiB");
        allocate(256, 4000);
        assertThatThrownBy(() -> plan(request(0, false), stepAllocation("0-255", 4000), plain()))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("has 256 CPUs, and a VM has at most 255");
    }

    @Test
    void memory_in_huge_pages_is_whole_pages() throws Exception {
        HostVmDefaults huge = defaults(new MemoryBacking(OptionalInt.of(1 << 20), false), SevDecision.Mode.OFF);
        assertThat(plan(request(0, false), stepAllocation("0-3", 4000), huge)
                        .domain()
                        .memoryMib())
                .isEqualTo(3072);
        allocate(4, 1000);
        assertThatThrownBy(() -> plan(request(0, false), stepAllocation("0-3", 1000), huge))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED))
                .hasMessageContaining("one page of 1024 MiB");
    }

    @Test
    void a_worker_talks_to_its_jobs_others_and_their_controlling_vm_alone() throws Exception {
        VmPlan plan = plan(request(0, false), stepAllocation("0-3", 4000), plain());
        assertThat(plan.port().self()).hasToString("52:54:0a:40:0c:0b=10.64.12.11");
        assertThat(plan.domain().mac()).isEqualTo(plan.port().self().mac());
        assertThat(plan.port().peers().toString())
                .isEqualTo("[52:54:0a:40:0c:01=10.64.12.1, 52:54:0a:40:0c:0a=10.64.12.10,"
                        + " 52:54:0a:40:0c:0c=10.64.12.12]");
        assertThat(plan.port().vlan()).isEqualTo(301);
        assertThat(plan.port().role()).isEqualTo(PortRole.WORKER);
        assertThat(plan.port().egress()).isNull();
    }

    @Test
    void a_scratch_disk_is_there_if_it_was_asked_for() throws Exception {
        assertThat(plan(request(0, false), stepAllocation("0-3", 4000), plain()).scratchBytes())
                .isEmpty();
        VmPlan plan = plan(request(7, false), stepAllocation("0-3", 4000), plain());
        assertThat(plan.scratchBytes()).hasValue(7 * MIB);
        assertThat(plan.facts().shape().scratchMib()).isEqualTo(7);
        assertThat(plan.facts().image()).isEqualTo(image.manifest().identity());
    }

    @Test
    void a_whole_node_is_shared_with_nobody() throws Exception {
        assertThat(plan(request(0, true), stepAllocation("0-3", 4000), plain()).sharing())
                .isEqualTo(HostSharing.NONE);
        assertThat(plan(request(0, false), stepAllocation("0-3", 4000), plain()).sharing())
                .isEqualTo(HostSharing.ANY);
    }

    @Test
    void what_the_site_requires_and_the_host_has_not_is_refused() {
        HostVmDefaults required = defaults(MemoryBacking.PLAIN, SevDecision.Mode.REQUIRED);
        assertThatThrownBy(() -> plan(request(0, false), stepAllocation("0-3", 4000), required))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.HOST))
                .hasMessageContaining("launch-security");
    }
}
