package org.cloister.host.ticket;

import java.util.Optional;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/** Which claim an answer says to be for. Nothing of it is verified: who claimed does that, against the id it asked for. */
final class TicketIds {
    private TicketIds() {}

    /** @param envelope from anybody; empty if it has no ticket's id in it */
    static Optional<String> of(byte[] envelope) {
        try {
            byte[] payload =
                    StrictJson.read(envelope, Ticket.MAX_BYTES).base64InEitherAlphabet("payload", Ticket.MAX_BYTES);
            return Optional.of(StrictJson.read(payload, Ticket.MAX_BYTES).text("id", Ticket.ID));
        } catch (MalformedException e) {
            return Optional.empty();
        }
    }
}
