package org.cloister.host.plan;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.resources.PortOwnerLabels;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepAllocation;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;

/**
 * Plans a controlling VM from its opening, its allocation and its job's step. On the bridge a controlling VM's port
 * differs from others by its label only: it exchanges frames with its peers alone. Its peers are all addresses that the
 * project's network has room for, because tickets come and go while it runs; hosts with workers of the project name it
 * as a peer. It has no route out of that network and reaches neither hosts nor other projects, which are on other
 * VLANs.
 */
public final class ControllerVmPlanner {
    /** Maximum of a port's peers, enough for a network of 20 or more prefix bits. */
    private static final int MAX_PEERS = 4096;

    private ControllerVmPlanner() {}

    /**
     * Paths of the VM's own files.
     *
     * @param folder of its sockets
     * @param drive image, which exists, with the lease, before the plan is carried out
     */
    public record VmPaths(Path folder, Path drive) {}

    /**
     * Signed inputs of the plan.
     *
     * @param slot of this host
     */
    public record SignedInputs(DriveClaim drive, Allocation allocation, AllocatedSlot slot) {}

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
        DomainDisk drive = new DomainDisk(paths.drive(), VmPlan.DRIVE_SERIAL, DomainDisk.Use.WRITABLE);
        DomainSpec domain = new DomainPlanner(owner, image, defaults, paths.folder(), Optional.of(drive))
                .plan(inputs.slot(), stepAllocation);
        PortPlan port = new PortPlan(
                owner.names().tap(),
                inputs.allocation().vlan(),
                VlanEndpoint.at(inputs.slot().address()),
                PortOwnerLabels.job(owner),
                PortRole.CONTROLLER,
                peers(inputs.allocation().network()),
                null,
                null,
                PortOwnerLabels.owner(owner));
        return new VmPlan(
                domain,
                port,
                defaults.mtu(),
                OptionalLong.empty(),
                image.manifest().identity(),
                HostSharing.ANY,
                Optional.of(inputs.drive()));
    }

    /** Returns every address that a worker of the project may get. */
    private static Set<Endpoint> peers(ProjectSubnet network) throws StartFailed {
        Set<Endpoint> peers = new HashSet<>();
        int next = network.controller().bits() + 1;
        for (ProjectAddress each = new ProjectAddress(next);
                network.isForWorkers(each);
                each = new ProjectAddress(++next)) {
            peers.add(VlanEndpoint.at(each));
            if (peers.size() > MAX_PEERS) {
                // Any host would say so.
                throw new StartFailed(
                        VmRunCode.REFUSED,
                        "the project's network " + network + " has room for more than " + MAX_PEERS + " workers",
                        "set network.prefix of the relays to 20 or more");
            }
        }
        return peers;
    }
}
