package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/**
 * Decides how nodes are removed from Slurm. A step that is refused or incomplete is decided again after the next poll,
 * until the nodes are gone.
 */
final class NodeRemoval {
    private NodeRemoval() {}

    /**
     * Returns the actions for a closed ticket's nodes.
     *
     * @param vmsGone whether their VMs are gone
     * @param cooledDown whether a node's cooldown is over
     */
    static List<SlurmAction> actionsFor(
            Collection<LocalSlurmNode> nodes, boolean vmsGone, Predicate<LocalSlurmNode> cooledDown) {
        List<SlurmAction> actions = new ArrayList<>();
        for (LocalSlurmNode node : nodes) {
            if (node.state() == LocalSlurmNode.State.UNAVAILABLE) {
                if (cooledDown.test(node)) {
                    actions.add(new SlurmAction.DeleteNode(node.name()));
                }
            } else if (vmsGone) {
                actions.add(new SlurmAction.MarkNodeDown(node.name(), "its VM has gone"));
            } else if (acceptsJobs(node)) {
                actions.add(new SlurmAction.DrainNode(node.name(), "its job has ended"));
            }
        }
        return actions;
    }

    static boolean acceptsJobs(LocalSlurmNode node) {
        return node.state() == LocalSlurmNode.State.IDLE || node.state() == LocalSlurmNode.State.BUSY;
    }

    /**
     * Returns the actions for nodes without a ticket, whose origin is unknown. A node that still has a job keeps it.
     */
    static List<SlurmAction> orphanActions(
            Collection<LocalSlurmNode> nodes, Set<String> features, Predicate<LocalSlurmNode> cooledDown) {
        return nodes.stream()
                .filter(node -> !features.contains(node.feature()))
                .flatMap(node -> orphanAction(node, cooledDown).stream())
                .toList();
    }

    private static Optional<SlurmAction> orphanAction(LocalSlurmNode node, Predicate<LocalSlurmNode> cooledDown) {
        return switch (node.state()) {
            case UNAVAILABLE ->
                cooledDown.test(node) ? Optional.of(new SlurmAction.DeleteNode(node.name())) : Optional.empty();
            case IDLE, BUSY -> Optional.of(new SlurmAction.DrainNode(node.name(), "belongs to no ticket"));
            case DRAINING -> Optional.empty();
        };
    }
}
