package org.cloister.protocol.ticket;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Reasons why a ticket ended. */
public enum TicketEnd {
    /** The Global job ended by itself, without an error. */
    COMPLETED,
    /** The Global job ended with an error. */
    FAILED,
    /** The requester withdrew it: the controlling VM, or for an opening an opener. */
    WITHDRAWN,
    /** The site cancelled the Global job. */
    CANCELLED,
    TIMEOUT,
    NODE_FAILED,
    PREEMPTED,
    /** Global Slurm rejected the job. */
    REFUSED,
    /** The project or the signer is no longer trusted. */
    REVOKED,
    /** Global Slurm no longer knows the job. */
    LOST,
    /** The ticket expired before its job had nodes, or its nodes' hosts did not claim it. */
    NOT_STARTED,
    /** A later epoch replaced it; of an opening only. */
    SUPERSEDED;

    /** Regular expression of all words. */
    public static final String WORDS =
            Arrays.stream(values()).map(TicketEnd::toString).collect(Collectors.joining("|"));

    public static Optional<TicketEnd> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }

    /** Returns the end as messages and records write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
