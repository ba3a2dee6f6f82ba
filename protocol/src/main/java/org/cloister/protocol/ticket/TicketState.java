package org.cloister.protocol.ticket;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** How far a ticket is, as the relay's record says. */
public enum TicketState {
    /** Recorded; whether Global Slurm has a job for it is not known. */
    ACCEPTED,
    /** Global Slurm has its job, without nodes. */
    QUEUED,
    /** It has nodes. */
    RUNNING,
    ENDED;

    public static Optional<TicketState> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }

    /** As messages and records write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
