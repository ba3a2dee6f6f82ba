package org.cloister.protocol.identity;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * From when to when a certificate holds, in whole seconds.
 *
 * @param from earlier than now, for clocks that are behind
 */
record Validity(Instant from, Instant to) {
    /** Clocks further apart are refused before certificates are looked at. */
    static final Duration SKEW = Duration.ofMinutes(2);

    static Validity of(Instant now, Duration lifetime, Duration longest) throws RefusedException {
        if (lifetime.compareTo(Duration.ofSeconds(1)) < 0 || lifetime.compareTo(longest) > 0) {
            throw new RefusedException(
                    "lifetime", "1 s to " + longest.toSeconds() + " s", lifetime.toSeconds() + " s", "ask for less");
        }
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        return new Validity(second.minus(SKEW), second.plus(lifetime).truncatedTo(ChronoUnit.SECONDS));
    }
}
