package org.cloister.vm.controller.tickets;

import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/** Writes down what it is told. */
final class FakeTicketRecorder implements TicketRecorder {
    final List<String> recorded = new ArrayList<>();
    final List<String> waits = new ArrayList<>();

    @Override
    public void recordSubmission(Ticket ticket, byte[] envelope) {
        recorded.add("ordered " + ticket.id());
    }

    @Override
    public void recordUpdate(RelayTicketMessage.Update update) {
        recorded.add(update.state() + " " + update.ticket());
    }

    @Override
    public void recordHostStatement(RelayTicketMessage.ForwardedStatement part) {
        recorded.add("part " + part.ticket() + " " + part.slot());
    }

    @Override
    public void recordRejection(String ticket) {
        recorded.add("dropped " + ticket);
    }

    @Override
    public void recordForgotten(String ticket) {
        recorded.add("forgotten " + ticket);
    }

    @Override
    public List<String> awaitedTickets() {
        return List.copyOf(waits);
    }
}
