package org.cloister.relay.ticket;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.Opening;
import org.cloister.relay.state.Slots;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRequest;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** On which host each project's controlling VM is, by what the records have of openings that run. Any thread may ask. */
final class Whereabouts {
    private record Seat(String opening, Name host) {}

    private final Map<Name, Seat> seats = new ConcurrentHashMap<>();

    /** Its host; empty while no opening of its drive runs that a host has claimed. */
    Optional<Name> of(Name controller) {
        return Optional.ofNullable(seats.get(controller)).map(Seat::host);
    }

    /** Nothing of a ticket. */
    void claimed(TicketRequest request, Name host) {
        name(request).ifPresent(name -> seats.put(name, new Seat(request.id(), host)));
    }

    void ended(TicketRequest request) {
        name(request)
                .ifPresent(name ->
                        seats.computeIfPresent(name, (each, seat) -> seat.opening.equals(request.id()) ? null : seat));
    }

    /** What an earlier process of the relay knew. */
    void resume(Transaction records, TicketRow row) throws StateException {
        if (row.isOpening()) {
            for (Slots.Claim claim : records.slots().claims(row.id())) {
                try {
                    claimed(row.request(), Name.parse(claim.host()));
                } catch (MalformedException e) {
                    throw new IllegalStateException("claim of " + row.id() + ": " + e.getMessage(), e);
                }
            }
        }
    }

    private static Optional<Name> name(TicketRequest request) {
        return request.drive().map(drive -> Opening.controller(drive, request.project()));
    }
}
