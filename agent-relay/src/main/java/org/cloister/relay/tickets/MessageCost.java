package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.util.List;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/**
 * What a message costs the relay, in units of {@code project-work}: known from its kind and length, before a key is tried. A unit
 * is about a question to the database.
 */
final class MessageCost {
    /** Of a chain of three certificates: four signatures of P-384, its own among them. */
    static final long CHAIN = 12;
    /** Added to what was refused: a party that asks for nothing good waits longer for its next turn. */
    static final long REFUSED = 8;

    private static final long QUESTION = 1;
    private static final long SIGNATURE = 4;
    /** An envelope with one signature is no longer; another one needs as much at least. */
    private static final int ENVELOPE = 1200;

    private static final int ENTRY = 200;

    /** Of any message. */
    static final long DEAREST = CHAIN + SIGNATURE + SIGNATURE * ((Ticket.MAX_BYTES - ENVELOPE) / ENTRY);

    private MessageCost() {}

    /** @param seen the chain that the party has shown here before */
    static long of(AgentTicketMessage message, List<ByteString> seen) {
        if (message instanceof AgentTicketMessage.Proof proof) {
            return CHAIN + envelope(proof.signed());
        } else if (message instanceof AgentTicketMessage.Open open) {
            return chain(open.chain(), seen) + envelope(open.opening());
        } else if (message instanceof AgentTicketMessage.Close close) {
            return chain(close.chain(), seen) + envelope(close.withdrawal());
        } else if (message instanceof AgentTicketMessage.Submit order) {
            return envelope(order.ticket());
        } else if (message instanceof AgentTicketMessage.Withdraw withdraw) {
            return envelope(withdraw.withdrawal());
        } else if (message instanceof AgentTicketMessage.Report report) {
            return envelope(report.statement());
        } else {
            return QUESTION;
        }
    }

    private static long chain(List<ByteString> shown, List<ByteString> seen) {
        return shown.equals(seen) ? 0 : CHAIN;
    }

    /** Each signature in it may be one to try; what is longer than a ticket is refused unread. */
    private static long envelope(ByteString envelope) {
        int bytes = Math.min(envelope.size(), Ticket.MAX_BYTES);
        return SIGNATURE + SIGNATURE * Math.max(0, (bytes - ENVELOPE) / ENTRY);
    }
}
