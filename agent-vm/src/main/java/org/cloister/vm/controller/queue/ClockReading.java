package org.cloister.vm.controller.queue;

/**
 * The time on two clocks. Whatever is waited for is measured by the second: whoever sets the machine's clock, by an hour
 * even, undoes no placed job and delays none.
 *
 * @param wallMs since 1970, as the ledger and people have it
 * @param elapsedMs since no matter when, by a clock that nobody sets; of this process alone
 */
record ClockReading(long wallMs, long elapsedMs) {
    /** When it was, on the clock that nobody sets, that the ledger's clock showed {@code thenMs}; at the latest now. */
    long elapsedAt(long thenMs) {
        return elapsedMs - Math.max(0, wallMs - thenMs);
    }
}
