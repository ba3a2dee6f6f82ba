package org.cloister.vm.ticket;

import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;

/** Writes down what it is told. */
final class FakeWitness implements Witness {
    final List<String> told = new ArrayList<>();
    final List<String> waits = new ArrayList<>();

    @Override
    public void ordered(Ticket ticket, byte[] envelope) {
        told.add("ordered " + ticket.id());
    }

    @Override
    public void stands(OfficeMessage.Update update) {
        told.add(update.state() + " " + update.ticket());
    }

    @Override
    public void part(OfficeMessage.Part part) {
        told.add("part " + part.ticket() + " " + part.slot());
    }

    @Override
    public void dropped(String ticket) {
        told.add("dropped " + ticket);
    }

    @Override
    public void forgotten(String ticket) {
        told.add("forgotten " + ticket);
    }

    @Override
    public List<String> awaited() {
        return List.copyOf(waits);
    }
}
