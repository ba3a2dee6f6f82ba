package org.cloister.vm.controller.admission;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Ticket;

/** Workers that may connect, by the certificate names that they will have. Not thread-safe. */
final class ExpectedWorkers {
    private final Map<CertificateName, ExpectedSlot> slots = new HashMap<>();
    private final Map<String, Allocation> allocations = new HashMap<>();

    /** A slot of an allocation. */
    record ExpectedSlot(Allocation allocation, AllocatedSlot slot) {
        String ticket() {
            return allocation.ticket();
        }
    }

    /**
     * Adds the slots of a ticket's allocation. The first allocation of a ticket is its only one.
     *
     * @throws MalformedException if the allocation is not this ticket's
     */
    void add(Ticket ticket, Allocation allocation) throws MalformedException {
        Digest digest = Digest.sha256(ticket.payload());
        if (!allocation.ticket().equals(ticket.id())
                || !allocation.project().equals(ticket.project())
                || !allocation.digest().equals(digest)) {
            throw new MalformedException("allocation: want that of ticket " + ticket.id() + ", " + digest
                    + ", have that of " + allocation.ticket() + ", " + allocation.digest());
        }
        if (allocation.slots().size() != ticket.request().nodes()) {
            throw new MalformedException("allocation: want " + ticket.request().nodes() + " slots, have "
                    + allocation.slots().size());
        }
        if (allocations.putIfAbsent(allocation.ticket(), allocation) == null) {
            for (AllocatedSlot slot : allocation.slots()) {
                slots.put(name(allocation, slot), new ExpectedSlot(allocation, slot));
            }
        }
    }

    /**
     * Removes a ticket's slots.
     *
     * @return the names of its workers
     */
    List<CertificateName> remove(String ticket) {
        Allocation allocation = allocations.remove(ticket);
        if (allocation == null) {
            return List.of();
        }
        List<CertificateName> names = names(allocation);
        slots.keySet().removeAll(names);
        return names;
    }

    /** Returns the names of a ticket's workers. */
    List<CertificateName> workersOf(String ticket) {
        return Optional.ofNullable(allocations.get(ticket))
                .map(ExpectedWorkers::names)
                .orElse(List.of());
    }

    private static List<CertificateName> names(Allocation allocation) {
        return allocation.slots().stream().map(slot -> name(allocation, slot)).toList();
    }

    Map<CertificateName, ExpectedSlot> all() {
        return Map.copyOf(slots);
    }

    Optional<ExpectedSlot> find(CertificateName worker) {
        return Optional.ofNullable(slots.get(worker));
    }

    private static CertificateName name(Allocation allocation, AllocatedSlot slot) {
        return WorkerName.of(allocation.ticket(), slot.slot(), allocation.project());
    }
}
