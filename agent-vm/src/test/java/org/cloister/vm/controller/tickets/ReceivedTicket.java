package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/**
 * A ticket as a relay hears it.
 *
 * @param controllerEpoch epoch of the controlling VM that signed it
 */
record ReceivedTicket(Ticket ticket, long controllerEpoch) {
    /** @param key of who has to have signed it */
    static ReceivedTicket read(AgentTicketMessage message, SigningKey key) throws Exception {
        assertThat(message).isInstanceOf(AgentTicketMessage.Submit.class);
        DsseEnvelope envelope = DsseEnvelope.parse(
                ((AgentTicketMessage.Submit) message).ticket().toByteArray(), Ticket.MAX_BYTES);
        String type = envelope.payloadType();
        Ticket ticket = Ticket.parse(envelope.verify(type, List.of(key.verificationKey()), 1));
        return new ReceivedTicket(ticket, ticket.controllerEpoch(type));
    }
}
