package org.cloister.host.reconcile;

import java.util.Set;

/** Answer of a local source that was asked for all its resources. A missing answer is never treated as an empty one. */
public sealed interface SourceAnswer<T> {
    record Known<T>(Set<T> all) implements SourceAnswer<T> {
        public Known {
            all = Set.copyOf(all);
        }
    }

    /**
     * Missing answer.
     *
     * @param why for people
     */
    record Unknown<T>(String why) implements SourceAnswer<T> {}

    default boolean isKnown() {
        return this instanceof Known;
    }

    /** Returns the resources; empty also if they are unknown. */
    default Set<T> all() {
        return this instanceof Known<T> known ? known.all() : Set.of();
    }
}
