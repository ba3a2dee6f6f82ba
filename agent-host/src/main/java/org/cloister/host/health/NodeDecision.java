package org.cloister.host.health;

/** What is to be done about a node. */
public sealed interface NodeDecision {
    /** Nothing, for now. */
    record NoChange() implements NodeDecision {}

    record Drain(DrainReason reason) implements NodeDecision {}

    /** @param reason that it has to be drained for until then */
    record Resume(DrainReason reason) implements NodeDecision {}
}
