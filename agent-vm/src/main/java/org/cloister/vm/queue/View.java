package org.cloister.vm.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.JobState;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;

/** What one look at Slurm saw. */
final class View {
    private final Map<JobId, Job> jobs = new LinkedHashMap<>();
    private final Map<String, Map<String, Node>> nodes = new HashMap<>();
    private final Map<Long, Integer> waitingComponents = new HashMap<>();
    final Moment now;

    View(List<Job> jobs, List<Node> nodes, Moment now) {
        this.now = now;
        for (Job job : jobs) {
            this.jobs.put(job.id(), job);
            if (job.set() != 0 && job.state() == JobState.PENDING) {
                waitingComponents.merge(job.set(), 1, Integer::sum);
            }
        }
        for (Node node : nodes) {
            this.nodes.computeIfAbsent(node.feature(), none -> new HashMap<>()).put(node.name(), node);
        }
    }

    Optional<Job> job(JobId id) {
        return Optional.ofNullable(jobs.get(id));
    }

    /** In the order in which Slurm would start them. */
    List<Job> waiting() {
        return jobs.values().stream()
                .filter(job -> job.state() == JobState.PENDING)
                .toList();
    }

    Collection<Job> jobs() {
        return jobs.values();
    }

    /** By name. */
    Map<String, Node> nodesOf(String ticket) {
        return nodes.getOrDefault(LocalSlurm.feature(ticket), Map.of());
    }

    Collection<Node> nodes() {
        List<Node> all = new ArrayList<>();
        nodes.values().forEach(each -> all.addAll(each.values()));
        return all;
    }

    /** Of heterogeneous jobs, by their numbers. */
    Map<Long, Integer> waitingComponents() {
        return waitingComponents;
    }
}
