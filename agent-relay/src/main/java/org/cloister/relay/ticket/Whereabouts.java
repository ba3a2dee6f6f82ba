package org.cloister.relay.ticket;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.Opening;
import org.cloister.relay.state.Slots;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRequest;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/**
 * On which host each VM is, by what the records have of openings and tickets that run: a controlling VM's by its drive, a
 * worker's by its slot. As many as slots of open tickets that hosts have claimed. Any thread may ask.
 */
final class Whereabouts {
    private record Seat(String ticket, Name host) {}

    private final Map<Name, Seat> seats = new ConcurrentHashMap<>();

    /** Its host; empty while nothing of that name runs that a host has claimed. */
    Optional<Name> of(Name vm) {
        return Optional.ofNullable(seats.get(vm)).map(Seat::host);
    }

    void claimed(TicketRequest request, int slot, Name host) {
        seats.put(name(request, slot), new Seat(request.id(), host));
    }

    void ended(TicketRequest request) {
        seats.values().removeIf(seat -> seat.ticket.equals(request.id()));
    }

    /** What an earlier process of the relay knew. */
    void resume(Transaction records, TicketRow row) throws StateException {
        for (Slots.Claim claim : records.slots().claims(row.id())) {
            try {
                claimed(row.request(), claim.slot(), Name.parse(claim.host()));
            } catch (MalformedException e) {
                throw new IllegalStateException("claim of " + row.id() + ": " + e.getMessage(), e);
            }
        }
    }

    private static Name name(TicketRequest request, int slot) {
        return request.drive()
                .map(drive -> Opening.controller(drive, request.project()))
                .orElseGet(() -> SlotName.of(request.id(), slot, request.project()));
    }
}
