package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/** Measures for how long nodes have had no job and accepted none, as this process observed. */
final class NodeCooldown {
    /**
     * Minimum time before a node is deleted. slurmctld saves at most every 6 s which job has which node. If it is
     * killed before it saved a job's end and after the job's nodes were deleted, it finds the job on nodes that do not
     * exist: 22.05.8 requeues the job, which then stays COMPLETING permanently, regardless of any command. In its
     * backfill scheduler it also crashes if a node is deleted 0.1 s after the end of a heterogeneous job on it; 4 s
     * after, it did not.
     */
    static final Duration MIN_TIME = Duration.ofSeconds(10);

    private final Map<String, Long> sinceMs = new HashMap<>();

    /** @param nodes all existing nodes */
    void update(Collection<LocalSlurmNode> nodes, long nowMs) {
        Set<String> out = nodes.stream()
                .filter(node -> node.state() == LocalSlurmNode.State.UNAVAILABLE)
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
