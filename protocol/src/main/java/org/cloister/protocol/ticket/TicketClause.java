package org.cloister.protocol.ticket;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Reasons why a ticket, or an allocation for one, is refused. The word of a released clause never changes. */
public enum TicketClause {
    MALFORMED("it is not what this version reads"),
    SIGNATURE("it is not signed by who must have signed it"),
    PROJECT("it is about another project, ticket or job than who brings it"),
    SEQUENCE("it is not newer than the newest of its project"),
    EXPIRED("it is too old, or from the future"),
    USED("its id or its slot was used before"),
    QUOTA("the project would have more than the site approved"),
    EXHAUSTED("no VLAN or address is free"),
    FEATURES("it names a feature that the site did not map for the project"),
    AUDIT("the relay cannot write its audit log, or the project has used up its part of it"),
    DRAINING("the relay takes no new work"),
    UNAVAILABLE("the relay cannot do it now"),
    NO_SLURM("the relay has no Global Slurm"),
    LIMIT("it is more than a limit of the relay or of this page");

    private final String denies;

    TicketClause(String denies) {
        this.denies = denies;
    }

    /** Returns the condition under which the clause denies. */
    public String denies() {
        return denies;
    }

    public static Optional<TicketClause> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }

    /** Returns the clause as messages and records write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
