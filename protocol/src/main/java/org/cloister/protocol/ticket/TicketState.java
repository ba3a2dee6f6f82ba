package org.cloister.protocol.ticket;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** State of a ticket, as the relay has recorded it. */
public enum TicketState {
    /** Recorded; it is not known whether Global Slurm has a job for it. */
    ACCEPTED,
    /** Global Slurm has the job, without nodes. */
    QUEUED,
    /** The job has nodes. */
    RUNNING,
    ENDED;

    public static Optional<TicketState> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }

    /** Returns the state as messages and records write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
