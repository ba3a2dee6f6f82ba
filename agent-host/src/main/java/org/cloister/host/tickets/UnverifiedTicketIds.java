package org.cloister.host.tickets;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Ticket;

/**
 * Reads the ids that an unverified response names, to find its claim. The claimant then verifies the response against
 * the id that it asked for.
 */
final class UnverifiedTicketIds {
    private UnverifiedTicketIds() {}

    /**
     * Returns the ticket's id.
     *
     * @param envelope from any sender; empty if it contains no ticket's id
     */
    static Optional<String> of(byte[] envelope) {
        return text(envelope, "id", Ticket.ID);
    }

    /**
     * Returns the project that the envelope names.
     *
     * @return empty if it names none
     */
    static Optional<String> project(byte[] envelope) {
        return text(envelope, "project", ProjectPolicy.PROJECT);
    }

    private static Optional<String> text(byte[] envelope, String key, Pattern form) {
        try {
            byte[] payload = DsseEnvelope.parse(envelope, Ticket.MAX_BYTES).unverifiedPayload();
            return Optional.of(StrictJson.read(payload, Ticket.MAX_BYTES).text(key, form));
        } catch (MalformedException e) {
            return Optional.empty();
        }
    }
}
