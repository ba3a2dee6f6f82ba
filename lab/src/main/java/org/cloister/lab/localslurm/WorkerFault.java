package org.cloister.lab.localslurm;

import java.time.Duration;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.jspecify.annotations.Nullable;

/**
 * A fault to inject into a ticket.
 *
 * @param number a slot, or milliseconds
 */
public record WorkerFault(Kind kind, long number, @Nullable EndReason failure) {
    /** Kind of the fault. */
    public enum Kind {
        DIES_BOOTING,
        LATE,
        REFUSED
    }

    /** Returns a fault in which a slot's VM ends before its slurmd runs. */
    public static WorkerFault diesBooting(int slot) {
        return new WorkerFault(Kind.DIES_BOOTING, slot, null);
    }

    /** Returns a fault in which the VMs start to boot that much later. */
    public static WorkerFault late(Duration by) {
        return new WorkerFault(Kind.LATE, by.toMillis(), null);
    }

    public static WorkerFault refused(EndReason failure) {
        return new WorkerFault(Kind.REFUSED, 0, failure);
    }
}
