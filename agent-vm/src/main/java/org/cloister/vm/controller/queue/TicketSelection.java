package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.slurm.LocalSlurmJob;

/**
 * Which waiting jobs get tickets now: in Slurm's order, and none before one that is ahead of it and could have one but for the
 * quota. So a heterogeneous job, whose components get theirs together, is not overtaken for good.
 */
final class TicketSelection {
    /**
     * A job that waits for nothing but nodes, and has no ticket.
     *
     * @param retryAllowed false while an attempt that failed is too fresh
     */
    record Candidate(LocalSlurmJob job, ResourceRequest request, boolean retryAllowed) {}

    /**
     * @param selected in order; components of a set follow each other
     * @param overQuota those that would have a ticket with a higher quota
     */
    record Outcome(List<Candidate> selected, List<LocalSlurmJob> overQuota) {}

    private TicketSelection() {}

    /**
     * @param candidates in the order in which Slurm would start them
     * @param components of each heterogeneous job that waits, by its number: how many
     * @param running by an array's number: tasks that run or have tickets
     * @param free tickets that the quota still allows
     */
    static Outcome select(
            List<Candidate> candidates, Map<Long, Integer> components, Map<Long, Integer> running, int free) {
        List<Candidate> admitted = new ArrayList<>();
        List<LocalSlurmJob> waiting = new ArrayList<>();
        Map<Long, Integer> busy = new HashMap<>(running);
        int left = free;
        for (List<Candidate> together : groups(candidates)) {
            LocalSlurmJob first = together.get(0).job();
            boolean complete = first.hetJobId() == 0 || together.size() == components.getOrDefault(first.hetJobId(), 0);
            boolean throttled = first.throttle() > 0 && busy.getOrDefault(first.arrayJobId(), 0) >= first.throttle();
            if (!complete || throttled || !together.stream().allMatch(Candidate::retryAllowed)) {
                continue;
            }
            if (together.size() > left) {
                left = 0;
                together.forEach(each -> waiting.add(each.job()));
                continue;
            }
            left -= together.size();
            admitted.addAll(together);
            if (first.arrayJobId() != 0) {
                busy.merge(first.arrayJobId(), 1, Integer::sum);
            }
        }
        return new Outcome(List.copyOf(admitted), List.copyOf(waiting));
    }

    /** A set stands where its first component does. */
    private static List<List<Candidate>> groups(List<Candidate> candidates) {
        Map<String, List<Candidate>> groups = new LinkedHashMap<>();
        for (Candidate each : candidates) {
            LocalSlurmJob job = each.job();
            String key = job.hetJobId() == 0 ? job.id().text() : "set " + job.hetJobId();
            groups.computeIfAbsent(key, none -> new ArrayList<>()).add(each);
        }
        return List.copyOf(groups.values());
    }
}
