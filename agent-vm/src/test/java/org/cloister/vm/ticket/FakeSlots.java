package org.cloister.vm.ticket;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;

/** Writes down what it is told; an allocation is the number of its slots. */
final class FakeSlots implements Slots {
    final List<String> told = new ArrayList<>();

    @Override
    public int expect(Ticket ticket, OfficeMessage.Update update) throws IOException {
        String allocation = update.allocation().toStringUtf8();
        if (!allocation.matches("[0-9]+")) {
            throw new IOException("allocation: want that of " + ticket.id() + ", have " + allocation);
        }
        told.add("expect " + ticket.id());
        return Integer.parseInt(allocation);
    }

    @Override
    public void release(String ticket) {
        told.add("release " + ticket);
    }

    @Override
    public void forget(String ticket) {
        told.add("forget " + ticket);
    }
}
