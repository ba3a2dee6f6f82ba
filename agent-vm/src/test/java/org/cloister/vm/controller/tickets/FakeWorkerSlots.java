package org.cloister.vm.controller.tickets;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;

/** Writes down what it is told; an allocation is the number of its slots. */
final class FakeWorkerSlots implements WorkerSlots {
    final List<String> recorded = new ArrayList<>();

    @Override
    public void start(Consumer<WorkerEvent> events) {}

    @Override
    public int expectWorkers(Ticket ticket, RelayTicketMessage.Update update) throws IOException {
        String allocation = update.allocation().toStringUtf8();
        if (!allocation.matches("[0-9]+")) {
            throw new IOException("allocation: want that of " + ticket.id() + ", have " + allocation);
        }
        recorded.add("expect " + ticket.id());
        return Integer.parseInt(allocation);
    }

    @Override
    public void release(String ticket) {
        recorded.add("release " + ticket);
    }

    @Override
    public void forget(String ticket) {
        recorded.add("forget " + ticket);
    }
}
