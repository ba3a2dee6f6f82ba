package org.cloister.vm.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Ticket;

/**
 * A ticket as a relay hears it.
 *
 * @param life whose word it is, by epoch
 */
record Ordered(Ticket ticket, long life) {
    /** @param key of who has to have signed it */
    static Ordered read(PartyMessage message, SigningKey key) throws Exception {
        assertThat(message).isInstanceOf(PartyMessage.Order.class);
        Envelope envelope =
                Envelope.parse(((PartyMessage.Order) message).ticket().toByteArray(), Ticket.MAX_BYTES);
        String type = envelope.payloadType();
        Ticket ticket = Ticket.parse(envelope.verify(type, List.of(key.verificationKey()), 1));
        return new Ordered(ticket, ticket.life(type));
    }
}
