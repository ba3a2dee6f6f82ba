package org.cloister.lab.localslurm;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.cloister.vm.controller.config.HostShape;

/** Free capacity of the hosts, as the site's own Slurm would compute it: each CPU and each MiB is allocated once. */
final class HostCapacity {
    private final List<HostShape> hosts = new ArrayList<>();
    private final int[] cpus;
    private final long[] memoryMib;

    HostCapacity(List<HostShape> shapes, Collection<SlotPlacement> taken) {
        for (HostShape shape : shapes) {
            for (int i = 0; i < shape.hosts(); i++) {
                hosts.add(shape);
            }
        }
        cpus = hosts.stream().mapToInt(HostShape::cpus).toArray();
        memoryMib = hosts.stream().mapToLong(HostShape::memoryMib).toArray();
        for (SlotPlacement place : taken) {
            cpus[place.host()] -= place.cpus();
            memoryMib[place.host()] -= place.memoryMib();
        }
    }

    boolean everFits(PerHostResources need) {
        return hosts.stream().filter(need::fits).count() >= need.nodes();
    }

    /**
     * Returns a placement for each slot, on different hosts; empty if there are not enough free hosts now.
     *
     * @param firstNumber of the slots' addresses
     */
    Optional<List<SlotPlacement>> allocate(PerHostResources need, int firstNumber) {
        List<SlotPlacement> places = new ArrayList<>();
        for (int i = 0; i < hosts.size() && places.size() < need.nodes(); i++) {
            HostShape host = hosts.get(i);
            boolean untouched = cpus[i] == host.cpus() && memoryMib[i] == host.memoryMib();
            boolean free = need.whole() ? untouched : need.cpus() <= cpus[i] && need.memoryMib() <= memoryMib[i];
            if (need.fits(host) && free) {
                places.add(new SlotPlacement(
                        i,
                        firstNumber + places.size(),
                        need.whole() ? host.cpus() : need.cpus(),
                        need.whole() ? host.memoryMib() : need.memoryMib(),
                        need.whole() ? host.scratchMib() : need.scratchMib(),
                        false));
            }
        }
        return places.size() == need.nodes() ? Optional.of(places) : Optional.empty();
    }
}
