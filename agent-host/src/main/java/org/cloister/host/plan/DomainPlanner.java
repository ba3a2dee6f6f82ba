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
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.MemoryFormula;

/**
 * Plans the domain of a VM of either role: sized by its job's step and its slot, and otherwise with the host's
 * defaults.
 *
 * @param folder of its sockets
 * @param own the disk that it writes to
 */
record DomainPlanner(
        ResourceOwner owner, GuestImage image, HostVmDefaults terms, Path folder, Optional<DomainDisk> own) {
    private static final long MIB = 1 << 20;
    private static final int KIB_A_MIB = 1 << 10;

    /**
     * Returns the domain.
     *
     * @throws UnsatisfiablePlan if this host cannot provide what the VM requires
     */
    DomainSpec plan(AllocatedSlot slot, StepAllocation allotment) throws UnsatisfiablePlan {
        List<DomainDisk> disks = new ArrayList<>(DirectKernelBoot.layers(image.manifest(), image.folder()));
        own.ifPresent(disks::add);
        return new DomainSpec(
                owner,
                terms.accelerator(),
                DirectKernelBoot.of(image.manifest(), image.folder()),
                cpus(slot, allotment),
                memoryMib(slot, allotment),
                terms.backing(),
                disks,
                VlanEndpoint.at(slot.address()).mac(),
                folder.resolve("channel"),
                terms.tpm(),
                launchSecurity(),
                terms.debugConsole() ? Optional.of(folder.resolve("console.log")) : Optional.empty());
    }

    private static CpuPlacement cpus(AllocatedSlot slot, StepAllocation allotment) throws UnsatisfiablePlan {
        CpuSet cpus = allotment
                .cpus()
                .orElseThrow(() -> new UnsatisfiablePlan(
                        "CPUs of the job's step: want a set, have none",
                        "set ConstrainCores=yes in this host's cgroup.conf"));
        int given = cpus.numbers().size();
        if (given > slot.cpus()) {
            throw new UnsatisfiablePlan(
                    "CPUs of the job's step: want at most the allocation's " + slot.cpus() + ", have " + given,
                    "have the job's step started by agent-relay's script, and see TaskPlugin=task/cgroup");
        }
        return new CpuPlacement(Math.min(given, CpuPlacement.MAX_COUNT), cpus, allotment.node());
    }

    /** Returns all memory that the step's limit leaves beside QEMU, rounded down to whole pages of its backing. */
    private int memoryMib(AllocatedSlot slot, StepAllocation allotment) throws UnsatisfiablePlan {
        long limit = allotment
                        .memoryBytes()
                        .orElseThrow(() -> new UnsatisfiablePlan(
                                "memory of the job's step: want a limit, have none",
                                "set ConstrainRAMSpace=yes in this host's cgroup.conf"))
                / MIB;
        int global = (int) Math.min(limit, slot.memoryMib());
        int page = Math.max(1, terms.backing().hugepageKib().orElse(0) / KIB_A_MIB);
        int memory;
        try {
            memory = MemoryFormula.within(global, 1, terms.reserves()).vm() / page * page;
        } catch (IllegalArgumentException e) {
            throw new UnsatisfiablePlan(String.valueOf(e.getMessage()), "ask for more memory");
        }
        if (memory == 0) {
            throw new UnsatisfiablePlan(
                    "memory of the job's step: want a page of " + page + " MiB besides all reserves, have " + global
                            + " MiB in all",
                    "ask for more memory");
        }
        return memory;
    }

    /**
     * Decides on launch security by the site's setting only; the controlling VM compares the evidence with what the
     * owners demand.
     */
    private Optional<LaunchSecurity> launchSecurity() throws UnsatisfiablePlan {
        SevDecision decision = SevDecision.of(terms.mode(), terms.sev(), MemoryProtection.NONE);
        if (decision instanceof SevDecision.Refuse refuse) {
            throw new UnsatisfiablePlan(refuse.reason(), "have its job on a host that has it");
        }
        return decision instanceof SevDecision.Protect protect
                ? Optional.of(protect.launchSecurity())
                : Optional.empty();
    }
}
