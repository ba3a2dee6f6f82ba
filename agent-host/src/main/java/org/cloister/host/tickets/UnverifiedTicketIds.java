package org.cloister.host.tickets;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Ticket;

/** Which claim an answer says to be for. Nothing of it is verified: who claimed does that, against the id it asked for. */
final class UnverifiedTicketIds {
    private UnverifiedTicketIds() {}

    /** @param envelope from anybody; empty if it has no ticket's id in it */
    static Optional<String> of(byte[] envelope) {
        return text(envelope, "id", Ticket.ID);
    }

    /** @return the project that it says to be of; empty if it says none */
    static Optional<String> project(byte[] envelope) {
        return text(envelope, "project", ProjectPolicy.PROJECT);
    }

    private static Optional<String> text(byte[] envelope, String key, Pattern form) {
        try {
            byte[] payload =
                    StrictJson.read(envelope, Ticket.MAX_BYTES).base64InEitherAlphabet("payload", Ticket.MAX_BYTES);
            return Optional.of(StrictJson.read(payload, Ticket.MAX_BYTES).text(key, form));
        } catch (MalformedException e) {
            return Optional.empty();
        }
    }
}
