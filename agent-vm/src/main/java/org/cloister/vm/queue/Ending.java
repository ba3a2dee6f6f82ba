package org.cloister.vm.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.cloister.vm.slurm.Node;

/** How nodes leave Slurm. What is refused, or goes half the way, is decided again at the next look, until they are gone. */
final class Ending {
    private Ending() {}

    /**
     * Of a closed ticket's nodes.
     *
     * @param vanished whether their VMs have gone
     * @param rested of a node, whether its rest is over
     */
    static List<Step> of(Collection<Node> nodes, boolean vanished, Predicate<Node> rested) {
        List<Step> steps = new ArrayList<>();
        for (Node node : nodes) {
            if (node.state() == Node.State.OUT) {
                if (rested.test(node)) {
                    steps.add(new Step.Remove(node.name()));
                }
            } else if (vanished) {
                steps.add(new Step.Down(node.name(), "its VM has gone"));
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
    static List<Step> strays(Collection<Node> nodes, Set<String> features, Predicate<Node> rested) {
        return nodes.stream()
                .filter(node -> !features.contains(node.feature()))
                .flatMap(node -> stray(node, rested).stream())
                .toList();
    }

    private static Optional<Step> stray(Node node, Predicate<Node> rested) {
        return switch (node.state()) {
            case OUT -> rested.test(node) ? Optional.of(new Step.Remove(node.name())) : Optional.empty();
            case IDLE, BUSY -> Optional.of(new Step.Drain(node.name(), "of no ticket"));
            case LEAVING -> Optional.empty();
        };
    }
}
