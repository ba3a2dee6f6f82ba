package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.cloister.vm.controller.slurm.LocalSlurmNode;

/** Snapshot of Slurm's jobs and nodes. */
final class LocalSlurmSnapshot {
    private final Map<LocalSlurmJobId, LocalSlurmJob> jobs = new LinkedHashMap<>();
    private final Map<String, Map<String, LocalSlurmNode>> nodes = new HashMap<>();
    private final Map<Long, Integer> waitingComponents = new HashMap<>();
    final ClockReading now;

    LocalSlurmSnapshot(List<LocalSlurmJob> jobs, List<LocalSlurmNode> nodes, ClockReading now) {
        this.now = now;
        for (LocalSlurmJob job : jobs) {
            this.jobs.put(job.id(), job);
            if (job.hetJobId() != 0 && job.state() == LocalSlurmJobState.PENDING) {
                waitingComponents.merge(job.hetJobId(), 1, Integer::sum);
            }
        }
        for (LocalSlurmNode node : nodes) {
            this.nodes.computeIfAbsent(node.feature(), none -> new HashMap<>()).put(node.name(), node);
        }
    }

    Optional<LocalSlurmJob> job(LocalSlurmJobId id) {
        return Optional.ofNullable(jobs.get(id));
    }

    /** Returns the pending jobs in the order in which Slurm would start them. */
    List<LocalSlurmJob> pendingJobs() {
        return jobs.values().stream()
                .filter(job -> job.state() == LocalSlurmJobState.PENDING)
                .toList();
    }

    Collection<LocalSlurmJob> jobs() {
        return jobs.values();
    }

    /** Returns a ticket's nodes by name. */
    Map<String, LocalSlurmNode> nodesOf(String ticket) {
        return nodes.getOrDefault(LocalSlurm.feature(ticket), Map.of());
    }

    Collection<LocalSlurmNode> nodes() {
        List<LocalSlurmNode> all = new ArrayList<>();
        nodes.values().forEach(each -> all.addAll(each.values()));
        return all;
    }

    /** Returns the names of the nodes of jobs that have not ended; such a node need not exist. */
    Set<String> namedNodes() {
        return jobs.values().stream()
                .filter(job -> job.state() != LocalSlurmJobState.ENDED)
                .flatMap(job -> job.nodes().stream())
                .collect(Collectors.toSet());
    }

    /** Returns the number of pending components of heterogeneous jobs, by job number. */
    Map<Long, Integer> pendingComponents() {
        return waitingComponents;
    }
}
