package org.cloister.vm.controller.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.Withdrawal;

/**
 * Signs a project's tickets and withdrawals for the relay.
 *
 * @param key of this boot
 * @param epoch of this start
 */
record TicketSigner(String project, SigningKey key, long epoch) {
    AgentTicketMessage.Submit sign(Ticket ticket) throws IOException {
        try {
            return new AgentTicketMessage.Submit(
                    ByteString.copyFrom(ticket.sign(key, epoch).bytes()));
        } catch (GeneralSecurityException e) {
            throw new IOException("ticket " + ticket.id() + ": cannot be signed: " + e.getMessage(), e);
        }
    }

    AgentTicketMessage.Withdraw signWithdrawal(String ticket) throws IOException {
        try {
            return new AgentTicketMessage.Withdraw(ByteString.copyFrom(
                    new Withdrawal(ticket, project).sign(key).bytes()));
        } catch (GeneralSecurityException e) {
            throw new IOException("ticket " + ticket + ": its withdrawal cannot be signed: " + e.getMessage(), e);
        }
    }
}
