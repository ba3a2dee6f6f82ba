package org.cloister.protocol.handover;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * What a worker is to be in the Local Slurm.
 *
 * @param nodes all of its ticket that are there or to come, its own among them
 * @param cluster's name
 * @param port of slurmctld, at the controlling VM
 */
public record WorkerJob(List<JobNode> nodes, String cluster, int port) {
    private static final Pattern CLUSTER = Pattern.compile("[a-z][a-z0-9_-]{0,39}");
    private static final int MOST_PORT = 65_535;

    /** @throws IllegalArgumentException if a slot or an address is there twice, or a value out of its range */
    public WorkerJob {
        nodes = List.copyOf(nodes);
        HandoverChecks.within("nodes", nodes.size(), 1, ResourceRequest.MAX_NODES);
        Set<Object> seen = new HashSet<>();
        for (JobNode node : nodes) {
            HandoverChecks.that(seen.add(node.slot()), "nodes", "each slot once", "slot " + node.slot() + " twice");
            HandoverChecks.that(seen.add(node.address()), "nodes", "each address once", node.address() + " twice");
        }
        HandoverChecks.that(
                CLUSTER.matcher(cluster).matches(),
                "cluster",
                "a lower-case letter, and up to 39 letters, digits, _ or -",
                HandoverChecks.other(cluster));
        HandoverChecks.within("port", port, 1, MOST_PORT);
    }

    void requireIn(ProjectSubnet network) {
        for (JobNode node : nodes) {
            HandoverChecks.that(
                    network.isForWorkers(node.address()),
                    "nodes",
                    "addresses of workers in " + network,
                    node.address());
        }
    }

    /** @throws IllegalArgumentException if no node has it */
    ProjectAddress address(int slot) {
        return nodes.stream()
                .filter(node -> node.slot() == slot)
                .findFirst()
                .map(JobNode::address)
                .orElseThrow(() -> new IllegalArgumentException("nodes: want slot " + slot + " among them, have none"));
    }
}
