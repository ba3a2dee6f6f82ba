package org.cloister.protocol.handover;

import org.cloister.protocol.ticket.ProjectAddress;

/** One of a job's nodes, by its slot: it is called as {@link WorkerName} says. */
public record JobNode(int slot, ProjectAddress address) {
    /** @throws IllegalArgumentException if the slot is out of its range */
    public JobNode {
        HandoverChecks.slot(slot);
    }

    static JobNode read(org.cloister.protocol.handover.wire.Node wire) {
        return new JobNode(wire.getSlot(), ProjectAddress.parse(wire.getAddress()));
    }

    org.cloister.protocol.handover.wire.Node wire() {
        return org.cloister.protocol.handover.wire.Node.newBuilder()
                .setSlot(slot)
                .setAddress(address.toString())
                .build();
    }
}
