package org.cloister.vm.controller.queue;

/**
 * The time on two clocks. All waiting times are measured by the second: a change of the machine's clock, even by an
 * hour, neither undoes an assigned job nor delays one.
 *
 * @param wallMs since 1970, as in the journal and for people
 * @param elapsedMs since an arbitrary start, by a clock that cannot be set; for this process only
 */
record ClockReading(long wallMs, long elapsedMs) {
    /**
     * Returns the elapsed time at which the journal's clock showed {@code thenMs}; at most the time of this reading.
     */
    long elapsedAt(long thenMs) {
        return elapsedMs - Math.max(0, wallMs - thenMs);
    }
}
