package org.cloister.relay.ticket;

import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefused;

/** What the office says no with. */
final class Refusals {
    private Refusals() {}

    static OfficeMessage.Refused of(String ticket, TicketRefused why) {
        return new OfficeMessage.Refused(ticket, why.clause(), String.valueOf(why.getMessage()));
    }

    static OfficeMessage.Refused of(String ticket, TicketClause clause, String text) {
        return new OfficeMessage.Refused(ticket, clause, text);
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
