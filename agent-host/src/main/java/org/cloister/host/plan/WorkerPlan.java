package org.cloister.host.plan;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.domain.Boot;
import org.cloister.host.domain.CpuPlacement;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.LaunchSecurity;
import org.cloister.host.domain.MemoryPlan;
import org.cloister.host.domain.Protection;
import org.cloister.host.domain.SevDecision;
import org.cloister.host.machine.PortMark;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.step.Allotment;
import org.cloister.host.vm.VmOwner;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Role;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Slot;

/** A worker VM as its ticket, its allocation and its job's step make it; the host adds what is the same for all. */
public final class WorkerPlan {
    /** Of the disk that the worker finds by it. */
    static final String SCRATCH_SERIAL = "scratch";

    private static final long MIB = 1 << 20;
    private static final int KIB_A_MIB = 1 << 10;

    private WorkerPlan() {}

    /**
     * Where the VM's own files are to lie.
     *
     * @param folder of its sockets
     */
    public record Places(Path folder, Path scratch) {}

    /**
     * What was signed.
     *
     * @param slot this host's own
     */
    public record Asked(ResourceRequest request, Allocation allocation, Slot slot) {}

    /**
     * @param owner of the slot
     * @throws PlanImpossible if this host cannot give it what it has to have
     */
    public static VmPlan of(
            Asked asked, VmOwner owner, Allotment allotment, GuestImage image, HostTerms terms, Places places)
            throws PlanImpossible {
        Slot slot = asked.slot();
        Endpoint self = Station.at(slot.address());
        OptionalLong scratch = asked.request().scratchMib() == 0
                ? OptionalLong.empty()
                : OptionalLong.of(asked.request().scratchMib() * MIB);
        List<Disk> disks = new ArrayList<>(Boot.layers(image.manifest(), image.folder()));
        if (scratch.isPresent()) {
            disks.add(new Disk(places.scratch(), SCRATCH_SERIAL, Disk.Use.WRITABLE));
        }
        DomainSpec domain = new DomainSpec(
                owner,
                terms.accelerator(),
                Boot.of(image.manifest(), image.folder()),
                cpus(slot, allotment),
                memoryMib(slot, allotment, terms),
                terms.backing(),
                disks,
                self.mac(),
                places.folder().resolve("channel"),
                terms.tpm(),
                launchSecurity(terms),
                terms.debugConsole() ? Optional.of(places.folder().resolve("console.log")) : Optional.empty());
        PortPlan port = new PortPlan(
                owner.name().tap(),
                asked.allocation().vlan(),
                self,
                PortMark.job(owner),
                Role.WORKER,
                peers(asked, self),
                null,
                null,
                PortMark.owner(owner));
        Sharing sharing = asked.request().exclusive() ? Sharing.NONE : Sharing.ANY;
        return new VmPlan(domain, port, terms.mtu(), scratch, image.manifest().identity(), sharing);
    }

    /** The job's other workers, and their controlling VM. */
    private static Set<Endpoint> peers(Asked asked, Endpoint self) {
        Set<Endpoint> peers = new HashSet<>();
        peers.add(Station.at(asked.allocation().network().controller()));
        asked.allocation().slots().forEach(each -> peers.add(Station.at(each.address())));
        peers.remove(self);
        return peers;
    }

    private static CpuPlacement cpus(Slot slot, Allotment allotment) throws PlanImpossible {
        CpuSet cpus = allotment
                .cpus()
                .orElseThrow(() -> new PlanImpossible(
                        "CPUs of the job's step: want a set, have none",
                        "set ConstrainCores=yes in this host's cgroup.conf"));
        int given = cpus.numbers().size();
        if (given > slot.cpus()) {
            throw new PlanImpossible(
                    "CPUs of the job's step: want at most the allocation's " + slot.cpus() + ", have " + given,
                    "have the job's step started by agent-relay's script, and see TaskPlugin=task/cgroup");
        }
        return new CpuPlacement(Math.min(given, CpuPlacement.MAX_COUNT), cpus, allotment.node());
    }

    /** All that the step's limit holds beside QEMU, in whole pages of what it lies in. */
    private static int memoryMib(Slot slot, Allotment allotment, HostTerms terms) throws PlanImpossible {
        long limit = allotment
                        .memoryBytes()
                        .orElseThrow(() -> new PlanImpossible(
                                "memory of the job's step: want a limit, have none",
                                "set ConstrainRAMSpace=yes in this host's cgroup.conf"))
                / MIB;
        int global = (int) Math.min(limit, slot.memoryMib());
        int page = Math.max(1, terms.backing().hugepageKib().orElse(0) / KIB_A_MIB);
        int memory;
        try {
            memory = MemoryPlan.within(global, 1, terms.reserves()).vm() / page * page;
        } catch (IllegalArgumentException e) {
            throw new PlanImpossible(String.valueOf(e.getMessage()), "ask for more memory with the ticket");
        }
        if (memory == 0) {
            throw new PlanImpossible(
                    "memory of the job's step: want a page of " + page + " MiB besides all reserves, have " + global
                            + " MiB in all",
                    "ask for more memory with the ticket");
        }
        return memory;
    }

    /** What the owners demand, the controlling VM holds against the evidence: the host starts what the site's setting lets it. */
    private static Optional<LaunchSecurity> launchSecurity(HostTerms terms) throws PlanImpossible {
        SevDecision decision = SevDecision.of(terms.mode(), terms.sev(), Protection.NONE);
        if (decision instanceof SevDecision.Refuse refuse) {
            throw new PlanImpossible(refuse.reason(), "run the job on a host that has it");
        }
        return decision instanceof SevDecision.Protect protect
                ? Optional.of(protect.launchSecurity())
                : Optional.empty();
    }
}
