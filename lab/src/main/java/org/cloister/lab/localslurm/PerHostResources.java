package org.cloister.lab.localslurm;

import java.util.List;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.config.HostShape;

/**
 * Resources that a ticket needs of each of its hosts.
 *
 * @param whole all that a host has
 * @param features indexes in the approval's list, which every host here has
 */
record PerHostResources(int nodes, int cpus, long memoryMib, long scratchMib, boolean whole, List<Integer> features) {
    PerHostResources {
        features = List.copyOf(features);
    }

    static PerHostResources of(ResourceRequest request) {
        return new PerHostResources(
                request.nodes(),
                request.cpusPerNode(),
                request.memoryMib(),
                request.scratchMib(),
                request.exclusive(),
                request.features());
    }

    boolean fits(HostShape host) {
        return cpus <= host.cpus() && memoryMib <= host.memoryMib() && scratchMib <= host.scratchMib();
    }
}
