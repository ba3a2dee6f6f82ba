package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/** How long nodes have been without a job and have taken none, as far as this process saw. */
final class NodeCooldown {
    /**
     * slurmctld writes down at most every 6 s who has which node. One that was killed before it wrote down a job's end, and after
     * the job's nodes were removed, finds the job on nodes that it does not have: 22.05.8 requeues it and has it COMPLETING for good,
     * whatever is done. It also dies of the removal of a node 0.1 s after the end of a heterogeneous job on it, in its
     * backfill scheduler; after 4 s it did not.
     */
    static final Duration MIN_TIME = Duration.ofSeconds(10);

    private final Map<String, Long> sinceMs = new HashMap<>();

    /** @param nodes all that there are */
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
