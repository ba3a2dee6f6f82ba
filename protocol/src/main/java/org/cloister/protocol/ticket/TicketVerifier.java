package org.cloister.protocol.ticket;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.identity.ProjectApproval;

/**
 * Verifies a ticket or an opening before a relay accepts it; docs/protocol.md, section 13. A request whose id the relay
 * already has with the same digest was accepted before and is not verified again: it is sent again after a lost answer.
 */
public final class TicketVerifier {
    /** Permitted difference of clocks, the same as for certificates. */
    public static final Duration TOLERANCE = Duration.ofMinutes(2);

    private TicketVerifier() {}

    /**
     * Runs all checks, in the order in which a refusal helps most.
     *
     * @param newest position among the project's tickets that the relay has ever accepted
     * @param usage of the project, in the same transaction in which the ticket is recorded
     */
    public static void require(
            SignedTicket signed, TicketPosition newest, ProjectApproval approval, QuotaUsage usage, Instant now)
            throws TicketRefusedException {
        requireTime(signed, now);
        requireNewer(signed, newest);
        requireFeatures(signed, approval);
        requireQuota(signed, approval, usage);
    }

    /**
     * Runs all checks of an opening.
     *
     * @param newest highest epoch of the project's openings that the relay has ever accepted; 0 if it accepted none
     * @param usage of the project without the openings that this one ends
     */
    public static void require(
            SignedOpening signed, long newest, ProjectApproval approval, QuotaUsage usage, Instant now)
            throws TicketRefusedException {
        requireTime(signed, now);
        requireNewer(signed, newest);
        requireQuota(signed, approval, usage);
    }

    /**
     * Rejects requests that were delayed for long, and nothing else: the time in a ticket comes from a guest's clock,
     * which its host controls. Ids and counts prevent a second use.
     */
    public static void requireTime(SignedRequest ticket, Instant now) throws TicketRefusedException {
        if (now.isBefore(ticket.issued().minus(TOLERANCE))) {
            throw new TicketRefusedException(
                    TicketClause.EXPIRED,
                    ticket.subject(),
                    "one issued by " + now.plus(TOLERANCE),
                    ticket.issued().toString(),
                    "set the clocks");
        }
        if (!now.isBefore(ticket.expires().plus(TOLERANCE))) {
            throw new TicketRefusedException(
                    TicketClause.EXPIRED,
                    ticket.subject(),
                    "one that expires after " + now.minus(TOLERANCE),
                    ticket.expires().toString(),
                    "sign a new one");
        }
    }

    public static void requireNewer(SignedTicket signed, TicketPosition newest) throws TicketRefusedException {
        Ticket ticket = signed.ticket();
        if (signed.controllerEpoch() != ticket.epoch()) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    signed.subject(),
                    "one of epoch " + signed.controllerEpoch() + ", whose life asks",
                    Long.toString(ticket.epoch()),
                    "a ticket is taken over from a relay that has it; sign a new one");
        }
        if (ticket.position().compareTo(newest) <= 0) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    signed.subject(),
                    "one after " + newest + " (epoch.sequence)",
                    ticket.position().toString(),
                    "sign a new ticket; if the epoch is lower, another controlling VM of the project was opened later");
        }
    }

    /** Checks that an opening's epoch is new: a drive's epoch is used once, even if the opening failed. */
    public static void requireNewer(SignedOpening signed, long newest) throws TicketRefusedException {
        if (signed.epoch() <= newest) {
            throw TicketRefusedException.usedEpoch(signed.subject(), newest, signed.epoch());
        }
    }

    public static void requireFeatures(SignedRequest ticket, ProjectApproval approval) throws TicketRefusedException {
        List<Integer> features = ticket.request().features();
        int known = approval.features().size();
        if (!features.isEmpty() && features.get(features.size() - 1) >= known) {
            throw new TicketRefusedException(
                    TicketClause.FEATURES,
                    ticket.subject(),
                    known == 0 ? "no features" : "features 0 to " + (known - 1) + " of approval " + approval.number(),
                    features.toString(),
                    "have the site approve the project with them (agentctl site approve --feature)");
        }
    }

    public static void requireQuota(SignedRequest ticket, ProjectApproval approval, QuotaUsage usage)
            throws TicketRefusedException {
        List<String> above = usage.with(ticket.request()).above(approval.quota(), usage);
        if (!above.isEmpty()) {
            throw new TicketRefusedException(
                    TicketClause.QUOTA,
                    ticket.subject(),
                    "no more than approval " + approval.number() + " allows",
                    String.join(", ", above),
                    "wait for other tickets to end, or have the site approve more");
        }
    }
}
