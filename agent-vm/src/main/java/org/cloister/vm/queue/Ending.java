package org.cloister.vm.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.vm.slurm.Node;

/** How a ticket's nodes leave Slurm. */
final class Ending {
    /**
     * 22.05.8 dies of the removal of a node 0.1 s after the end of a heterogeneous job on it, in its backfill scheduler; after
     * 4 s it did not.
     */
    static final Duration SET_REST = Duration.ofSeconds(5);

    private Ending() {}

    /**
     * @param set whether a heterogeneous job had them
     * @param vanished whether their VMs have gone
     * @param sinceMs that the ticket is closed
     */
    static List<Step> of(Collection<Node> nodes, boolean set, boolean vanished, long sinceMs) {
        List<Step> steps = new ArrayList<>();
        boolean mayGo = !set || sinceMs >= SET_REST.toMillis();
        for (Node node : nodes) {
            boolean free = node.state() == Node.State.OUT;
            if (mayGo && (free || vanished)) {
                steps.add(new Step.Remove(node.name()));
            } else if (takesJobs(node)) {
                steps.add(new Step.Drain(node.name(), "its job has ended"));
            }
        }
        return steps;
    }

    static boolean takesJobs(Node node) {
        return node.state() == Node.State.IDLE || node.state() == Node.State.BUSY;
    }

    /** Nodes of no ticket: nobody knows whose they were. One that a job still has is left to it. */
    static List<Step> strays(Collection<Node> nodes, Set<String> features) {
        return nodes.stream()
                .filter(node -> !features.contains(node.feature()))
                .flatMap(node -> stray(node).stream())
                .toList();
    }

    private static Optional<Step> stray(Node node) {
        return switch (node.state()) {
            case OUT -> Optional.of(new Step.Remove(node.name()));
            case IDLE, BUSY -> Optional.of(new Step.Drain(node.name(), "of no ticket"));
            case LEAVING -> Optional.empty();
        };
    }
}
