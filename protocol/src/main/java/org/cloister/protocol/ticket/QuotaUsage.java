package org.cloister.protocol.ticket;

import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.identity.ProjectApproval;

/**
 * Resources that a project uses: the sum over its tickets that have not ended.
 *
 * @param vms running or about to run; a ticket has as many as nodes
 */
public record QuotaUsage(long tickets, long nodes, long cpus, long memoryMib, long vms) {
    public static final QuotaUsage NONE = new QuotaUsage(0, 0, 0, 0, 0);

    /** Returns the usage with one more request. */
    public QuotaUsage with(ResourceRequest request) {
        return new QuotaUsage(
                tickets + 1,
                nodes + request.nodes(),
                cpus + request.cpusInAll(),
                memoryMib + request.memoryMibInAll(),
                vms + request.nodes());
    }

    /** Returns which values are above the quota, for people; empty if none is. */
    List<String> above(ProjectApproval.Quota quota, QuotaUsage before) {
        List<String> above = new ArrayList<>();
        require(above, "tickets", tickets, before.tickets, quota.tickets());
        require(above, "nodes", nodes, before.nodes, quota.nodes());
        require(above, "CPUs", cpus, before.cpus, quota.cpus());
        require(above, "MiB of memory", memoryMib, before.memoryMib, quota.memoryMiB());
        require(above, "VMs", vms, before.vms, quota.vms());
        return above;
    }

    private static void require(List<String> above, String name, long value, long before, long max) {
        if (value > max) {
            above.add(before + " and " + (value - before) + " more of " + max + " " + name);
        }
    }
}
