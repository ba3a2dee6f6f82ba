package org.cloister.host.plan;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.DirectKernelBoot;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.LaunchSecurity;
import org.cloister.host.domain.MemoryProtection;
import org.cloister.host.domain.SevDecision;
import org.cloister.host.slurmstep.StepAllocation;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.MemoryFormula;

/**
 * Plans the domain of a VM of either role: sized by its job's step and its slot, and otherwise with the host's
 * defaults.
 *
 * @param folder of its sockets
 * @param ownDisk the disk that it writes to
 */
record DomainPlanner(
        ResourceOwner owner, GuestImage image, HostVmDefaults defaults, Path folder, Optional<DomainDisk> ownDisk) {
    private static final long MIB = 1 << 20;
    private static final int KIB_A_MIB = 1 << 10;

    /**
     * Returns the domain.
     *
     * @throws StartFailed if this host cannot provide what the VM requires
     */
    DomainSpec plan(AllocatedSlot slot, StepAllocation stepAllocation) throws StartFailed {
        List<DomainDisk> disks = new ArrayList<>(DirectKernelBoot.layers(image.manifest(), image.folder()));
        ownDisk.ifPresent(disks::add);
        return new DomainSpec(
                owner,
                defaults.accelerator(),
                DirectKernelBoot.of(image.manifest(), image.folder()),
                cpus(slot, stepAllocation),
                memoryMib(slot, stepAllocation),
                defaults.backing(),
                disks,
                VlanEndpoint.at(slot.address()).mac(),
                folder.resolve("channel"),
                defaults.tpm(),
                launchSecurity(),
                defaults.debugConsole() ? Optional.of(folder.resolve("console.log")) : Optional.empty());
    }

    private static CpuPlacement cpus(AllocatedSlot slot, StepAllocation stepAllocation) throws StartFailed {
        CpuSet cpus = stepAllocation
                .cpus()
                .orElseThrow(() -> new StartFailed(
                        VmRunCode.HOST,
                        "the job's step has no CPUs of its own in its cgroup",
                        "set ConstrainCores=yes in this host's cgroup.conf"));
        int stepCpus = cpus.numbers().size();
        if (stepCpus != slot.cpus()) {
            throw new StartFailed(
                    VmRunCode.HOST,
                    "the job's step has " + stepCpus + " CPUs, and the allocation says " + slot.cpus(),
                    "let only agent-relay's script start the step, and set TaskPlugin=task/cgroup in slurm.conf");
        }
        if (stepCpus > CpuPlacement.MAX_COUNT) {
            throw new StartFailed(
                    VmRunCode.REFUSED,
                    "the job's step has " + stepCpus + " CPUs, and a VM has at most " + CpuPlacement.MAX_COUNT,
                    "ask for fewer CPUs on each node");
        }
        return new CpuPlacement(stepCpus, cpus, stepAllocation.node(), stepAllocation.nodes());
    }

    /** Returns all memory that the step's limit leaves beside QEMU, rounded down to whole pages of its backing. */
    private int memoryMib(AllocatedSlot slot, StepAllocation stepAllocation) throws StartFailed {
        long limit = stepAllocation
                        .memoryBytes()
                        .orElseThrow(() -> new StartFailed(
                                VmRunCode.HOST,
                                "the job's step has no memory limit in its cgroup",
                                "set ConstrainRAMSpace=yes in this host's cgroup.conf"))
                / MIB;
        if (limit < slot.memoryMib()) {
            throw new StartFailed(
                    VmRunCode.HOST,
                    "the job's step has " + limit + " MiB, and the allocation says " + slot.memoryMib(),
                    "let only agent-relay's script start the step, and let AllowedRAMSpace and MaxRAMPercent in this"
                            + " host's cgroup.conf be 100");
        }
        int global = slot.memoryMib();
        int page = Math.max(1, defaults.backing().hugepageKib().orElse(0) / KIB_A_MIB);
        int memory;
        try {
            memory = MemoryFormula.within(global, 1, defaults.reserves()).vm() / page * page;
        } catch (IllegalArgumentException e) {
            throw new StartFailed(VmRunCode.REFUSED, String.valueOf(e.getMessage()), "ask for more memory");
        }
        if (memory == 0) {
            throw new StartFailed(
                    VmRunCode.REFUSED,
                    "the job's step has " + global + " MiB, which is less than the reserves and one page of " + page
                            + " MiB",
                    "ask for more memory");
        }
        return memory;
    }

    /**
     * Decides on launch security by the site's setting only; the controlling VM compares the evidence with what the
     * owners demand.
     */
    private Optional<LaunchSecurity> launchSecurity() throws StartFailed {
        SevDecision decision = SevDecision.of(defaults.mode(), defaults.sev(), MemoryProtection.NONE);
        if (decision instanceof SevDecision.Refuse refuse) {
            throw new StartFailed(VmRunCode.HOST, refuse.reason(), "run the job on a host that supports it");
        }
        return decision instanceof SevDecision.Protect protect
                ? Optional.of(protect.launchSecurity())
                : Optional.empty();
    }
}
