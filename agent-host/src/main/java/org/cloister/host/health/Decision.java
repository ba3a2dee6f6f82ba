package org.cloister.host.health;

/** What is to be done about a node. */
public sealed interface Decision {
    /** Nothing, for now. */
    record Leave() implements Decision {}

    record Drain(DrainReason reason) implements Decision {}

    /** @param reason that it has to be drained for until then */
    record Resume(DrainReason reason) implements Decision {}
}
