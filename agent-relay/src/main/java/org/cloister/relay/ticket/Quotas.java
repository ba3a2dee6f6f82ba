package org.cloister.relay.ticket;

import java.util.List;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Usage;

/** What a project may have and has, as it is told. */
final class Quotas {
    private Quotas() {}

    static OfficeMessage.Quota of(Approval approval, Usage usage) {
        Approval.Quota quota = approval.quota();
        return new OfficeMessage.Quota(
                approval.account(),
                approval.until(),
                List.of(
                        new OfficeMessage.Share("tickets", usage.tickets(), quota.tickets()),
                        new OfficeMessage.Share("nodes", usage.nodes(), quota.nodes()),
                        new OfficeMessage.Share("cpus", usage.cpus(), quota.cpus()),
                        new OfficeMessage.Share("memoryMiB", usage.memoryMib(), quota.memoryMiB()),
                        new OfficeMessage.Share("vms", usage.vms(), quota.vms())));
    }
}
