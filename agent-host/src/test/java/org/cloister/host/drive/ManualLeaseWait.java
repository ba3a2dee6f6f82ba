package org.cloister.host.drive;

import java.time.Duration;
import java.util.function.IntPredicate;

/** Time that passes when somebody waits, and what others do meanwhile. */
final class ManualLeaseWait implements LeaseWait {
    /** Where it stands is nobody's business. */
    private long nowNs = Long.MAX_VALUE - 5;

    private int pauses;
    private final IntPredicate meanwhile;

    /** @param meanwhile hears how often there was a pause before; false if nobody waits any more */
    ManualLeaseWait(IntPredicate meanwhile) {
        this.meanwhile = meanwhile;
    }

    /** Nothing happens. */
    ManualLeaseWait() {
        this(pauses -> true);
    }

    @Override
    public long nowNs() {
        return nowNs;
    }

    @Override
    public boolean pause(Duration time) {
        nowNs += time.toNanos();
        return meanwhile.test(pauses++);
    }

    int pauses() {
        return pauses;
    }
}
