package org.cloister.protocol.identity;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Validity period of a certificate or a list, in whole seconds.
 *
 * @param notBefore earlier than now, for clocks that are behind
 */
public record ValidityPeriod(Instant notBefore, Instant notAfter) {
    /** Longest period of a leaf. */
    static final Duration LEAF = Duration.ofHours(24);
    /** Longest period of an enrolment token, and so of the certificate with which its holder joins. */
    public static final Duration TOKEN = Duration.ofDays(7);
    /**
     * Longest time after a host's certificate has expired in which it may still ask for another one over its relay.
     * Shorter than a revoked key stays on the site's list, so that no revocation is forgotten meanwhile.
     */
    public static final Duration RENEWABLE = Duration.ofDays(90);
    /** Longest period of an authority that another one certified. */
    static final Duration DELEGATED = Duration.ofDays(31);
    /** Longest period of a self-signed authority. */
    static final Duration ROOT = Duration.ofDays(3660);
    /** Longest period of a site's revocation list. */
    static final Duration SITE_LIST = Duration.ofHours(24);
    /** Longest period of a project's revocation list, which an owner signs. */
    static final Duration PROJECT_LIST = Duration.ofDays(7);
    /** Largest difference of clocks; a larger one is refused before certificates are checked. */
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
