package org.cloister.protocol.ticket;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Why a ticket ended. */
public enum TicketEnd {
    /** Its Global job ended by itself, without an error. */
    COMPLETED,
    /** Its Global job ended with an error. */
    FAILED,
    /** Who asked took it back: the controlling VM, or of an opening an opener. */
    WITHDRAWN,
    /** The site ended its Global job. */
    CANCELLED,
    TIMEOUT,
    NODE_FAILED,
    PREEMPTED,
    /** Global Slurm did not take its job. */
    REFUSED,
    /** The project, or whoever signed it, is not believed any more. */
    REVOKED,
    /** Global Slurm knows nothing of its job any more. */
    LOST,
    /** It expired before its job had nodes, or its nodes' hosts did not come. */
    NOT_STARTED,
    /** Of an opening: one with a later epoch came. */
    SUPERSEDED;

    /** A regular expression of all words. */
    public static final String WORDS =
            Arrays.stream(values()).map(TicketEnd::toString).collect(Collectors.joining("|"));

    public static Optional<TicketEnd> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }

    /** As messages and records write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
