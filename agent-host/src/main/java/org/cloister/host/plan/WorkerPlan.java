package org.cloister.host.plan;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
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
        Optional<Disk> disk = scratch.isPresent()
                ? Optional.of(new Disk(places.scratch(), SCRATCH_SERIAL, Disk.Use.WRITABLE))
                : Optional.empty();
        DomainSpec domain = new PlannedDomain(owner, image, terms, places.folder(), disk).in(slot, allotment);
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
        return new VmPlan(domain, port, terms.mtu(), scratch, image.manifest().identity(), sharing, Optional.empty());
    }

    /** The job's other workers, and their controlling VM. */
    private static Set<Endpoint> peers(Asked asked, Endpoint self) {
        Set<Endpoint> peers = new HashSet<>();
        peers.add(Station.at(asked.allocation().network().controller()));
        asked.allocation().slots().forEach(each -> peers.add(Station.at(each.address())));
        peers.remove(self);
        return peers;
    }
}
