package org.cloister.vm.controller.tickets;

import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/** Writes down what it is told. */
final class FakeTicketRecorder implements TicketRecorder {
    final List<String> told = new ArrayList<>();
    final List<String> waits = new ArrayList<>();

    @Override
    public void recordSubmission(Ticket ticket, byte[] envelope) {
        told.add("ordered " + ticket.id());
    }

    @Override
    public void recordUpdate(RelayTicketMessage.Update update) {
        told.add(update.state() + " " + update.ticket());
    }

    @Override
    public void recordHostStatement(RelayTicketMessage.ForwardedStatement part) {
        told.add("part " + part.ticket() + " " + part.slot());
    }

    @Override
    public void recordRejection(String ticket) {
        told.add("dropped " + ticket);
    }

    @Override
    public void recordForgotten(String ticket) {
        told.add("forgotten " + ticket);
    }

    @Override
    public List<String> awaitedTickets() {
        return List.copyOf(waits);
    }
}
