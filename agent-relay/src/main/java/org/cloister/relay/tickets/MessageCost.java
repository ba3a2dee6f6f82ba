package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.util.List;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/**
 * Computes what a message costs the relay, in units of {@code project-work}: from its kind and length, before any
 * signature is verified. One unit is about one database query.
 */
final class MessageCost {
    /** Cost of a chain of three certificates: four P-384 signatures, its own among them. */
    static final long CHAIN = 12;
    /**
     * Added to the cost of a refused message: a peer that sends only invalid requests waits longer for its next turn.
     */
    static final long REFUSED = 8;

    private static final long QUERY = 1;
    private static final long SIGNATURE = 4;
    /** Maximum length of an envelope with one signature; each further signature needs at least {@link #ENTRY} bytes. */
    private static final int ENVELOPE = 1200;

    private static final int ENTRY = 200;

    /** Highest cost of any message. */
    static final long HIGHEST = CHAIN + SIGNATURE + SIGNATURE * ((Ticket.MAX_BYTES - ENVELOPE) / ENTRY);

    private MessageCost() {}

    /**
     * Returns the cost of a message.
     *
     * @param verified the chain that the peer has shown here before
     */
    static long of(AgentTicketMessage message, List<ByteString> verified) {
        if (message instanceof AgentTicketMessage.Proof proof) {
            return CHAIN + envelope(proof.signed());
        } else if (message instanceof AgentTicketMessage.Open open) {
            return chain(open.chain(), verified) + envelope(open.opening());
        } else if (message instanceof AgentTicketMessage.Close close) {
            return chain(close.chain(), verified) + envelope(close.withdrawal());
        } else if (message instanceof AgentTicketMessage.Submit order) {
            return envelope(order.ticket());
        } else if (message instanceof AgentTicketMessage.Withdraw withdraw) {
            return envelope(withdraw.withdrawal());
        } else if (message instanceof AgentTicketMessage.Report report) {
            return envelope(report.statement());
        } else {
            return QUERY;
        }
    }

    private static long chain(List<ByteString> chain, List<ByteString> verified) {
        return chain.equals(verified) ? 0 : CHAIN;
    }

    /** Assumes that each signature must be tried; an envelope longer than a ticket is refused without parsing. */
    private static long envelope(ByteString envelope) {
        int bytes = Math.min(envelope.size(), Ticket.MAX_BYTES);
        return SIGNATURE + SIGNATURE * Math.max(0, (bytes - ENVELOPE) / ENTRY);
    }
}
