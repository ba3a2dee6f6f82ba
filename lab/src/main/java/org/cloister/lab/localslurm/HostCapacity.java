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

    boolean everFits(PerHostResources request) {
        return hosts.stream().filter(request::fits).count() >= request.nodes();
    }

    /**
     * Returns a placement for each slot, on different hosts; empty if there are not enough free hosts now.
     *
     * @param firstNumber of the slots' addresses
     */
    Optional<List<SlotPlacement>> allocate(PerHostResources request, int firstNumber) {
        List<SlotPlacement> places = new ArrayList<>();
        for (int i = 0; i < hosts.size() && places.size() < request.nodes(); i++) {
            HostShape host = hosts.get(i);
            boolean untouched = cpus[i] == host.cpus() && memoryMib[i] == host.memoryMib();
            boolean free =
                    request.whole() ? untouched : request.cpus() <= cpus[i] && request.memoryMib() <= memoryMib[i];
            if (request.fits(host) && free) {
                places.add(new SlotPlacement(
                        i,
                        firstNumber + places.size(),
                        request.whole() ? host.cpus() : request.cpus(),
                        request.whole() ? host.memoryMib() : request.memoryMib(),
                        request.whole() ? host.scratchMib() : request.scratchMib(),
                        false));
            }
        }
        return places.size() == request.nodes() ? Optional.of(places) : Optional.empty();
    }
}
