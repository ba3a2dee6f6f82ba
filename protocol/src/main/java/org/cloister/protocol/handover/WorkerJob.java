package org.cloister.protocol.handover;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Job of a worker in the Local Slurm, with the job's nodes.
 *
 * @param nodes all nodes of its ticket, present or expected, its own included
 * @param cluster the cluster's name
 * @param port of slurmctld in the controlling VM
 */
public record WorkerJob(List<JobNode> nodes, String cluster, int port) {
    private static final Pattern CLUSTER = Pattern.compile("[a-z][a-z0-9_-]{0,39}");
    private static final int MOST_PORT = 65_535;

    /** @throws IllegalArgumentException if a slot or an address occurs twice, or a value is out of its range */
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

    /**
     * Returns the address of a slot's node.
     *
     * @throws IllegalArgumentException if no node has the slot
     */
    ProjectAddress address(int slot) {
        return nodes.stream()
                .filter(node -> node.slot() == slot)
                .findFirst()
                .map(JobNode::address)
                .orElseThrow(() -> new IllegalArgumentException("nodes: want slot " + slot + " among them, have none"));
    }
}
