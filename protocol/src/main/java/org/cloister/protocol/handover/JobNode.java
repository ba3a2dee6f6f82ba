package org.cloister.protocol.handover;

import org.cloister.protocol.ticket.ProjectAddress;

/** Node of a job, by its slot; {@link WorkerName} defines its name. */
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
