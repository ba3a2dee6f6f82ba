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
import org.cloister.host.vm.StartFailed;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;

/** Plans a worker VM from its ticket, its allocation and its job's step, with the host's defaults. */
public final class WorkerVmPlanner {
    /** Serial of the scratch disk, by which the worker finds it. */
    static final String SCRATCH_SERIAL = "scratch";

    private static final long MIB = 1 << 20;

    private WorkerVmPlanner() {}

    /**
     * Paths of the VM's own files.
     *
     * @param folder of its sockets
     */
    public record VmPaths(Path folder, Path scratch) {}

    /**
     * Signed inputs of the plan.
     *
     * @param slot of this host
     */
    public record SignedInputs(ResourceRequest request, Allocation allocation, AllocatedSlot slot) {}

    /**
     * Returns the VM's plan.
     *
     * @param owner of the slot
     * @throws StartFailed if this host cannot provide what the VM requires
     */
    public static VmPlan plan(
            SignedInputs inputs,
            ResourceOwner owner,
            StepAllocation stepAllocation,
            GuestImage image,
            HostVmDefaults defaults,
            VmPaths paths)
            throws StartFailed {
        AllocatedSlot slot = inputs.slot();
        Endpoint self = VlanEndpoint.at(slot.address());
        OptionalLong scratch = inputs.request().scratchMib() == 0
                ? OptionalLong.empty()
                : OptionalLong.of(inputs.request().scratchMib() * MIB);
        Optional<DomainDisk> disk = scratch.isPresent()
                ? Optional.of(new DomainDisk(paths.scratch(), SCRATCH_SERIAL, DomainDisk.Use.WRITABLE))
                : Optional.empty();
        DomainSpec domain = new DomainPlanner(owner, image, defaults, paths.folder(), disk).plan(slot, stepAllocation);
        PortPlan port = new PortPlan(
                owner.names().tap(),
                inputs.allocation().vlan(),
                self,
                PortOwnerLabels.job(owner),
                PortRole.WORKER,
                peers(inputs, self),
                null,
                null,
                PortOwnerLabels.owner(owner));
        HostSharing sharing = inputs.request().exclusive() ? HostSharing.NONE : HostSharing.ANY;
        return new VmPlan(
                domain, port, defaults.mtu(), scratch, image.manifest().identity(), sharing, Optional.empty());
    }

    /** Returns the endpoints of the job's other workers and of their controlling VM. */
    private static Set<Endpoint> peers(SignedInputs inputs, Endpoint self) {
        Set<Endpoint> peers = new HashSet<>();
        peers.add(VlanEndpoint.at(inputs.allocation().network().controller()));
        inputs.allocation().slots().forEach(each -> peers.add(VlanEndpoint.at(each.address())));
        peers.remove(self);
        return peers;
    }
}
