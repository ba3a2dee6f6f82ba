package org.cloister.host.plan;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.resources.PortOwnerLabels;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepAllocation;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;

/** A worker VM as its ticket, its allocation and its job's step make it; the host adds what is the same for all. */
public final class WorkerVmPlanner {
    /** Of the disk that the worker finds by it. */
    static final String SCRATCH_SERIAL = "scratch";

    private static final long MIB = 1 << 20;

    private WorkerVmPlanner() {}

    /**
     * Where the VM's own files are to lie.
     *
     * @param folder of its sockets
     */
    public record VmPaths(Path folder, Path scratch) {}

    /**
     * What was signed.
     *
     * @param slot this host's own
     */
    public record SignedInputs(ResourceRequest request, Allocation allocation, AllocatedSlot slot) {}

    /**
     * @param owner of the slot
     * @throws UnsatisfiablePlan if this host cannot give it what it has to have
     */
    public static VmPlan plan(
            SignedInputs asked,
            ResourceOwner owner,
            StepAllocation allotment,
            GuestImage image,
            HostVmDefaults terms,
            VmPaths places)
            throws UnsatisfiablePlan {
        AllocatedSlot slot = asked.slot();
        Endpoint self = VlanEndpoint.at(slot.address());
        OptionalLong scratch = asked.request().scratchMib() == 0
                ? OptionalLong.empty()
                : OptionalLong.of(asked.request().scratchMib() * MIB);
        Optional<DomainDisk> disk = scratch.isPresent()
                ? Optional.of(new DomainDisk(places.scratch(), SCRATCH_SERIAL, DomainDisk.Use.WRITABLE))
                : Optional.empty();
        DomainSpec domain = new DomainPlanner(owner, image, terms, places.folder(), disk).plan(slot, allotment);
        PortPlan port = new PortPlan(
                owner.names().tap(),
                asked.allocation().vlan(),
                self,
                PortOwnerLabels.job(owner),
                PortRole.WORKER,
                peers(asked, self),
                null,
                null,
                PortOwnerLabels.owner(owner));
        HostSharing sharing = asked.request().exclusive() ? HostSharing.NONE : HostSharing.ANY;
        return new VmPlan(domain, port, terms.mtu(), scratch, image.manifest().identity(), sharing, Optional.empty());
    }

    /** The job's other workers, and their controlling VM. */
    private static Set<Endpoint> peers(SignedInputs asked, Endpoint self) {
        Set<Endpoint> peers = new HashSet<>();
        peers.add(VlanEndpoint.at(asked.allocation().network().controller()));
        asked.allocation().slots().forEach(each -> peers.add(VlanEndpoint.at(each.address())));
        peers.remove(self);
        return peers;
    }
}
