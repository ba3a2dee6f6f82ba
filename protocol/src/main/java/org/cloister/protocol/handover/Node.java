package org.cloister.protocol.handover;

import org.cloister.protocol.ticket.Address;

/** One of a job's nodes, by its slot: it is called as {@link SlotName} says. */
public record Node(int slot, Address address) {
    /** @throws IllegalArgumentException if the slot is out of its range */
    public Node {
        Require.slot(slot);
    }

    static Node read(org.cloister.protocol.handover.wire.Node wire) {
        return new Node(wire.getSlot(), Address.parse(wire.getAddress()));
    }

    org.cloister.protocol.handover.wire.Node wire() {
        return org.cloister.protocol.handover.wire.Node.newBuilder()
                .setSlot(slot)
                .setAddress(address.toString())
                .build();
    }
}
