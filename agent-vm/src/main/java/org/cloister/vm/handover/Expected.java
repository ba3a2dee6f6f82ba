package org.cloister.vm.handover;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Slot;

/** Workers that may come, by the names that they will have. Not for several threads. */
final class Expected {
    private final Map<Name, Place> places = new HashMap<>();
    private final Map<String, Allocation> allocations = new HashMap<>();

    /** A slot that was given. */
    record Place(Allocation allocation, Slot slot) {
        String ticket() {
            return allocation.ticket();
        }
    }

    /** The first allocation of a ticket is its only one. */
    void add(Allocation allocation) {
        if (allocations.putIfAbsent(allocation.ticket(), allocation) == null) {
            for (Slot slot : allocation.slots()) {
                places.put(name(allocation, slot), new Place(allocation, slot));
            }
        }
    }

    void remove(String ticket) {
        Allocation allocation = allocations.remove(ticket);
        if (allocation != null) {
            allocation.slots().forEach(slot -> places.remove(name(allocation, slot)));
        }
    }

    Optional<Place> find(Name worker) {
        return Optional.ofNullable(places.get(worker));
    }

    private static Name name(Allocation allocation, Slot slot) {
        return SlotName.of(allocation.ticket(), slot.slot(), Role.WORKER, allocation.project());
    }
}
