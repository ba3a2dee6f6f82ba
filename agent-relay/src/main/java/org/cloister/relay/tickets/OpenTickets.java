package org.cloister.relay.tickets;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Runtime states of open tickets, by id. Thread-safe; only the records thread uses the states themselves. */
final class OpenTickets {
    private final Map<String, TicketRuntimeState> tickets = new ConcurrentHashMap<>();

    void add(TicketRuntimeState ticket) {
        tickets.put(ticket.id, ticket);
    }

    @Nullable
    TicketRuntimeState find(String id) {
        return tickets.get(id);
    }

    @Nullable
    TicketRuntimeState remove(String id) {
        return tickets.remove(id);
    }

    List<TicketRuntimeState> all() {
        return List.copyOf(tickets.values());
    }

    Set<String> ids() {
        return Set.copyOf(tickets.keySet());
    }

    int size() {
        return tickets.size();
    }
}
