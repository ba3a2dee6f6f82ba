package org.cloister.relay.ticket;

import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefused;

/** What the office says no with. */
final class Refusals {
    private Refusals() {}

    static OfficeMessage.Refused of(String ticket, TicketRefused why) {
        return new OfficeMessage.Refused(ticket, why.clause(), why.detail(), why.newestEpoch());
    }

    static OfficeMessage.Refused of(String ticket, TicketClause clause, String text) {
        return new OfficeMessage.Refused(ticket, clause, text);
    }

    /** In the place of an answer that is too long while so much waits. */
    static OfficeMessage.Refused unread(String ticket, int bytes) {
        return of(
                ticket,
                TicketClause.UNAVAILABLE,
                "an answer of " + bytes + " bytes does not fit behind those that are not read: at most "
                        + LinkLimits.UNWRITTEN_LONG_BYTES + " bytes wait on a stream, "
                        + LinkLimits.UNWRITTEN_PROJECT_BYTES + " of a project; read them and ask again");
    }

    /** To a message whose turn came too late, since its project asks for more than its share. */
    static OfficeMessage.Refused tooMuch(String ticket, String payer) {
        return of(
                ticket,
                TicketClause.UNAVAILABLE,
                payer + " asks for more than " + LinkLimits.PROJECT_WORK
                        + " units of work a second, and this waited for " + LinkLimits.WORK_TIME.toSeconds()
                        + " s; nothing was changed: ask again, more slowly");
    }

    static OfficeMessage.Refused unavailable(String ticket) {
        return of(
                ticket,
                TicketClause.UNAVAILABLE,
                "the relay cannot write its records now; nothing was changed: ask again, its operator's log says more");
    }

    static OfficeMessage.Refused ended(String ticket, TicketEnd end) {
        return of(
                ticket, TicketClause.USED, "ticket " + ticket + ": want one that goes on, have one that ended: " + end);
    }

    static OfficeMessage.Refused unknown(String ticket, String of) {
        return of(
                ticket,
                TicketClause.PROJECT,
                "ticket " + ticket + ": want one of " + of + ", have none of that id; it may have been forgotten");
    }
}
