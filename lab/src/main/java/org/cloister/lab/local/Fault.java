package org.cloister.lab.local;

import java.time.Duration;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.jspecify.annotations.Nullable;

/**
 * What is to go wrong with a ticket.
 *
 * @param number a slot, or milliseconds
 */
public record Fault(Kind kind, long number, @Nullable Trouble trouble) {
    /** Which. */
    public enum Kind {
        DIES_BOOTING,
        LATE,
        REFUSED
    }

    /** A slot's VM ends before its slurmd runs. */
    public static Fault diesBooting(int slot) {
        return new Fault(Kind.DIES_BOOTING, slot, null);
    }

    /** Its VMs begin to boot that much later. */
    public static Fault late(Duration by) {
        return new Fault(Kind.LATE, by.toMillis(), null);
    }

    public static Fault refused(Trouble trouble) {
        return new Fault(Kind.REFUSED, 0, trouble);
    }
}
