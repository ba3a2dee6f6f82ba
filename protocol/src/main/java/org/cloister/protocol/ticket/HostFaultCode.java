package org.cloister.protocol.ticket;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Kinds of failures of a ticket's VM, as its host tells them apart. A released name never changes. */
public enum HostFaultCode {
    /** The ticket, its allocation or the calling job step failed a check of the host. */
    REFUSED,
    /** Something that the host depends on did not answer. */
    UNAVAILABLE,
    /** The guest ended by itself, crashed, or never registered. */
    GUEST,
    /** The host failed. */
    HOST;

    /** Returns the word used in messages. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<HostFaultCode> of(String word) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(word))
                .findFirst();
    }
}
