package org.cloister.protocol.identity;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * From when to when a certificate or a list holds, in whole seconds.
 *
 * @param notBefore earlier than now, for clocks that are behind
 */
public record ValidityPeriod(Instant notBefore, Instant notAfter) {
    /** Of a leaf. */
    static final Duration LEAF = Duration.ofHours(24);
    /** Of an authority that another one certified. */
    static final Duration DELEGATED = Duration.ofDays(31);
    /** Of one that certified itself. */
    static final Duration ROOT = Duration.ofDays(3660);
    /** Of a site's list of revoked certificates. */
    static final Duration SITE_LIST = Duration.ofHours(24);
    /** Of an owner's. */
    static final Duration PROJECT_LIST = Duration.ofDays(7);
    /** Clocks further apart are refused before certificates are looked at. */
    public static final Duration SKEW = Duration.ofMinutes(2);

    static ValidityPeriod of(Instant now, Duration lifetime, Duration longest) throws CertificationRefusedException {
        if (lifetime.compareTo(Duration.ofSeconds(1)) < 0 || lifetime.compareTo(longest) > 0) {
            throw new CertificationRefusedException(
                    "lifetime", "1 s to " + longest.toSeconds() + " s", lifetime.toSeconds() + " s", "ask for less");
        }
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        return new ValidityPeriod(second.minus(SKEW), second.plus(lifetime).truncatedTo(ChronoUnit.SECONDS));
    }
}
