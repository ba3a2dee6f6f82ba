package org.cloister.host.plan;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.drive.DriveUse;
import org.cloister.host.machine.PortMark;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.step.Allotment;
import org.cloister.host.vm.VmOwner;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Role;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Network;
import org.cloister.protocol.ticket.Slot;

/**
 * A controlling VM as its opening, its allocation and its job's step make it. On the bridge a controller's port is as any
 * other but for its label: it exchanges frames with its peers alone. These are all stations that the project's network has
 * room for, for tickets come and go while it runs, and hosts that have workers of theirs name it as a peer. It has no way out
 * of that network and reaches neither hosts nor other projects, who are on other VLANs.
 */
public final class ControllerPlan {
    /** As many as a port may have: of a network of 20 bits and more. */
    private static final int MAX_PEERS = 4096;

    private ControllerPlan() {}

    /**
     * Where the VM's own files are.
     *
     * @param folder of its sockets
     * @param drive made before, and taken
     */
    public record Places(Path folder, Path drive) {}

    /**
     * What was signed.
     *
     * @param slot this host's own
     */
    public record Asked(DriveUse drive, Allocation allocation, Slot slot) {}

    /**
     * @param owner of the slot
     * @throws PlanImpossible if this host cannot give it what it has to have
     */
    public static VmPlan of(
            Asked asked, VmOwner owner, Allotment allotment, GuestImage image, HostTerms terms, Places places)
            throws PlanImpossible {
        Disk drive = new Disk(places.drive(), VmPlan.DRIVE_SERIAL, Disk.Use.WRITABLE);
        DomainSpec domain =
                new PlannedDomain(owner, image, terms, places.folder(), Optional.of(drive)).in(asked.slot(), allotment);
        PortPlan port = new PortPlan(
                owner.name().tap(),
                asked.allocation().vlan(),
                Station.at(asked.slot().address()),
                PortMark.job(owner),
                Role.CONTROLLER,
                peers(asked.allocation().network()),
                null,
                null,
                PortMark.owner(owner));
        return new VmPlan(
                domain,
                port,
                terms.mtu(),
                OptionalLong.empty(),
                image.manifest().identity(),
                Sharing.ANY,
                Optional.of(asked.drive()));
    }

    /** Every address that a worker of the project may get. */
    private static Set<Endpoint> peers(Network network) throws PlanImpossible {
        Set<Endpoint> peers = new HashSet<>();
        int next = network.controller().bits() + 1;
        for (Address each = new Address(next); network.isForWorkers(each); each = new Address(++next)) {
            peers.add(Station.at(each));
            if (peers.size() > MAX_PEERS) {
                throw new PlanImpossible(
                        "network of the project: want room for at most " + MAX_PEERS + " workers, have " + network,
                        "set network.prefix of the relays to 20 or more");
            }
        }
        return peers;
    }
}
