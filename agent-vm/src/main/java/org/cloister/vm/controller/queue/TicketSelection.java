package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.slurm.LocalSlurmJob;

/**
 * Selects the pending jobs that get tickets, in Slurm's order. No job gets a ticket before one ahead of it that lacks
 * only quota. So a heterogeneous job, whose components get their tickets together, is not overtaken indefinitely.
 */
final class TicketSelection {
    /**
     * A job that waits only for nodes, and has no ticket.
     *
     * @param retryAllowed false while the last failed attempt is too recent
     */
    record Candidate(LocalSlurmJob job, ResourceRequest request, boolean retryAllowed) {}

    /**
     * Result of the selection.
     *
     * @param selected in order; components of one heterogeneous job are adjacent
     * @param overQuota jobs that would get a ticket with a higher quota
     */
    record Outcome(List<Candidate> selected, List<LocalSlurmJob> overQuota) {}

    private TicketSelection() {}

    /**
     * Selects from the candidates.
     *
     * @param candidates in the order in which Slurm would start them
     * @param components number of pending components, by the number of each heterogeneous job
     * @param running number of tasks that run or have tickets, by array number
     * @param free number of tickets that the quota still permits
     */
    static Outcome select(
            List<Candidate> candidates, Map<Long, Integer> components, Map<Long, Integer> running, int free) {
        List<Candidate> selected = new ArrayList<>();
        List<LocalSlurmJob> overQuota = new ArrayList<>();
        Map<Long, Integer> busy = new HashMap<>(running);
        int remaining = free;
        for (List<Candidate> group : groups(candidates)) {
            LocalSlurmJob first = group.get(0).job();
            boolean complete = first.hetJobId() == 0 || group.size() == components.getOrDefault(first.hetJobId(), 0);
            boolean throttled = first.throttle() > 0 && busy.getOrDefault(first.arrayJobId(), 0) >= first.throttle();
            if (!complete || throttled || !group.stream().allMatch(Candidate::retryAllowed)) {
                continue;
            }
            if (group.size() > remaining) {
                remaining = 0;
                group.forEach(each -> overQuota.add(each.job()));
                continue;
            }
            remaining -= group.size();
            selected.addAll(group);
            if (first.arrayJobId() != 0) {
                busy.merge(first.arrayJobId(), 1, Integer::sum);
            }
        }
        return new Outcome(List.copyOf(selected), List.copyOf(overQuota));
    }

    /** Groups the candidates; a heterogeneous job has the position of its first component. */
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
