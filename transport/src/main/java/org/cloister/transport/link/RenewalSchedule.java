package org.cloister.transport.link;

import java.time.Duration;
import java.time.Instant;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Decides when a certificate's holder requests the next one: docs/protocol.md, section 8. It starts at half of the
 * lifetime and retries after each failed attempt, with a delay that doubles. It has no I/O, no clock and no randomness:
 * {@code random} is in [0, 1).
 */
final class RenewalSchedule {
    /** Divisors of a lifetime: 1 min and 30 min of 24 h. */
    private static final int FIRST_WAIT = 1440;

    private static final int LONGEST_WAIT = 48;
    /** All hosts of a site may have started in one minute; their requests are spread over this part of a lifetime. */
    private static final int SPREAD = 12;

    private Duration lifetime;
    private Duration wait;
    private Instant next;

    RenewalSchedule(Instant from, Instant until, double random) {
        this.lifetime = Duration.between(from, until);
        this.wait = lifetime.dividedBy(FIRST_WAIT);
        this.next = from.plus(lifetime.dividedBy(2)).plus(part(lifetime.dividedBy(SPREAD), random));
    }

    /** Returns the time of the next request; an earlier one is useless. */
    Instant next() {
        return next;
    }

    /** Records a request; without any result it is repeated. */
    void onAsked(Instant now) {
        next = now.plus(ProtocolLimits.RENEWAL_TIME).plus(wait);
    }

    /** Records that the request was refused, or its result was not accepted. */
    void onRefused(Instant now, double random) {
        next = now.plus(wait.dividedBy(2)).plus(part(wait.dividedBy(2), random));
        Duration doubled = wait.multipliedBy(2);
        Duration longest = lifetime.dividedBy(LONGEST_WAIT);
        wait = doubled.compareTo(longest) > 0 ? longest : doubled;
    }

    void onRenewed(Instant from, Instant until, double random) {
        RenewalSchedule fresh = new RenewalSchedule(from, until, random);
        lifetime = fresh.lifetime;
        wait = fresh.wait;
        next = fresh.next;
    }

    private static Duration part(Duration whole, double random) {
        return Duration.ofMillis((long) (random * whole.toMillis()));
    }
}
