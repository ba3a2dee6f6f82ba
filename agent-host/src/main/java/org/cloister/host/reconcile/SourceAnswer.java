package org.cloister.host.reconcile;

import java.util.Set;

/** What a local source said when it was asked for all it has. No answer is never taken for an empty one. */
public sealed interface SourceAnswer<T> {
    record Known<T>(Set<T> all) implements SourceAnswer<T> {
        public Known {
            all = Set.copyOf(all);
        }
    }

    /** @param why for people */
    record Unknown<T>(String why) implements SourceAnswer<T> {}

    default boolean isKnown() {
        return this instanceof Known;
    }

    /** Empty also if nothing is known. */
    default Set<T> all() {
        return this instanceof Known<T> known ? known.all() : Set.of();
    }
}
