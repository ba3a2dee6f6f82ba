package org.cloister.relay.tickets;

import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefusedException;

/** Builds the messages that refuse a request. */
final class RefusalMessages {
    private RefusalMessages() {}

    static RelayTicketMessage.Refused of(String ticket, TicketRefusedException why) {
        return new RelayTicketMessage.Refused(ticket, why.clause(), why.detail(), why.newestEpoch());
    }

    static RelayTicketMessage.Refused of(String ticket, TicketClause clause, String text) {
        return new RelayTicketMessage.Refused(ticket, clause, text);
    }

    /** Refuses an answer that is too long for the bytes that already wait to be written. */
    static RelayTicketMessage.Refused tooManyUnreadBytes(String ticket, int bytes) {
        return of(
                ticket,
                TicketClause.UNAVAILABLE,
                "an answer of " + bytes + " bytes exceeds the limit of unread bytes ("
                        + ProtocolLimits.UNWRITTEN_LONG_BYTES + " on a stream, "
                        + ProtocolLimits.UNWRITTEN_PROJECT_BYTES + " of a project); read the answers and retry");
    }

    /** Refuses a message whose turn came too late because its project exceeds its share of work. */
    static RelayTicketMessage.Refused workLimitReached(String ticket, String payer) {
        return of(
                ticket,
                TicketClause.UNAVAILABLE,
                payer + " requests more than " + ProtocolLimits.PROJECT_WORK
                        + " units of work a second, and this request waited for " + ProtocolLimits.WORK_TIME.toSeconds()
                        + " s; nothing was changed: retry more slowly");
    }

    static RelayTicketMessage.Refused unavailable(String ticket) {
        return of(
                ticket,
                TicketClause.UNAVAILABLE,
                "the relay cannot write its records now; nothing was changed: retry, and see the relay's log");
    }

    static RelayTicketMessage.Refused ended(String ticket, TicketEnd end) {
        return of(ticket, TicketClause.USED, "ticket " + ticket + " has ended: " + end);
    }

    static RelayTicketMessage.Refused unknown(String ticket, String of) {
        return of(
                ticket,
                TicketClause.PROJECT,
                "there is no ticket " + ticket + " of " + of + "; it may have been deleted after its end");
    }
}
