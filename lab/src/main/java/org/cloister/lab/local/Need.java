package org.cloister.lab.local;

import java.util.List;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.Shape;

/**
 * What a ticket takes of each of its hosts.
 *
 * @param whole all that a host has
 * @param features places in the approval's list, which every host here has
 */
record Need(int nodes, int cpus, long memoryMib, long scratchMib, boolean whole, List<Integer> features) {
    Need {
        features = List.copyOf(features);
    }

    static Need of(ResourceRequest request) {
        return new Need(
                request.nodes(),
                request.cpusPerNode(),
                request.memoryMib(),
                request.scratchMib(),
                request.exclusive(),
                request.features());
    }

    boolean fits(Shape host) {
        return cpus <= host.cpus() && memoryMib <= host.memoryMib() && scratchMib <= host.scratchMib();
    }
}
