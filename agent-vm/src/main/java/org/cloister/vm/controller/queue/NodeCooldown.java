package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/** Measures for how long no job has had or named a node that accepts none, as this process observed. */
final class NodeCooldown {
    /**
     * Minimum time before a node is deleted. slurmctld saves jobs and nodes apart, each at most every 5 s, and some
     * changes of a job only with the next change by a request. If it is killed with a job saved as requeued but not yet
     * off its node, and the node saved as deleted, the job stays COMPLETING permanently, regardless of any command and
     * restart (22.05.8, 24.11.5, 26.05.5). So did a job saved as running there with 22.05.8; 24.11.5 requeues it.
     */
    static final Duration MIN_TIME = Duration.ofSeconds(10);

    private final Map<String, Long> sinceMs = new HashMap<>();

    /**
     * @param nodes all existing nodes
     * @param named names of nodes of jobs that have not ended. If a job was saved as requeued but not yet off a node
     *     that is down, it waits after slurmctld's restart and still names the node, until it starts on others: 24.11.5
     *     does not clear its nodes. At each restart meanwhile the node must exist.
     */
    void update(Collection<LocalSlurmNode> nodes, Set<String> named, long nowMs) {
        Set<String> out = nodes.stream()
                .filter(node -> node.state() == LocalSlurmNode.State.UNAVAILABLE && !named.contains(node.name()))
                .map(LocalSlurmNode::name)
                .collect(Collectors.toSet());
        sinceMs.keySet().retainAll(out);
        out.forEach(name -> sinceMs.putIfAbsent(name, nowMs));
    }

    boolean isOver(LocalSlurmNode node, long nowMs) {
        Long since = sinceMs.get(node.name());
        return since != null && nowMs - since >= MIN_TIME.toMillis();
    }
}
