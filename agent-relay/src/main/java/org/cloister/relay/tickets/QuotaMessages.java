package org.cloister.relay.tickets;

import java.util.List;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.RelayTicketMessage;

/** Builds the messages that report a project's quota and its usage. */
final class QuotaMessages {
    private QuotaMessages() {}

    static RelayTicketMessage.Quota of(ProjectApproval approval, QuotaUsage usage) {
        ProjectApproval.Quota quota = approval.quota();
        return new RelayTicketMessage.Quota(
                approval.account(),
                approval.validUntil(),
                List.of(
                        new RelayTicketMessage.Share("tickets", usage.tickets(), quota.tickets()),
                        new RelayTicketMessage.Share("nodes", usage.nodes(), quota.nodes()),
                        new RelayTicketMessage.Share("cpus", usage.cpus(), quota.cpus()),
                        new RelayTicketMessage.Share("memoryMiB", usage.memoryMib(), quota.memoryMiB()),
                        new RelayTicketMessage.Share("vms", usage.vms(), quota.vms())));
    }
}
