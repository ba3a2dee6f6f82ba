package org.cloister.transport.link;

import java.time.Duration;
import java.time.Instant;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * When a certificate's holder asks for the next one: docs/protocol.md, section 8. From half of its life on, and again after
 * each attempt that brought none, at a wait that doubles. No I/O, no clock, no randomness: {@code random} is in [0, 1).
 */
final class RenewalSchedule {
    /** Of a life: 1 min and 30 min of 24 h. */
    private static final int FIRST_WAIT = 1440;

    private static final int LONGEST_WAIT = 48;
    /** All hosts of a site may have started in one minute; they ask over this part of a life. */
    private static final int SPREAD = 12;

    private Duration life;
    private Duration wait;
    private Instant next;

    RenewalSchedule(Instant from, Instant until, double random) {
        this.life = Duration.between(from, until);
        this.wait = life.dividedBy(FIRST_WAIT);
        this.next = from.plus(life.dividedBy(2)).plus(part(life.dividedBy(SPREAD), random));
    }

    /** When to ask; asking earlier is of no use. */
    Instant next() {
        return next;
    }

    /** It asks now: if nothing comes of it at all, then again. */
    void onAsked(Instant now) {
        next = now.plus(ProtocolLimits.RENEWAL_TIME).plus(wait);
    }

    /** It was refused, or what came was not taken. */
    void onRefused(Instant now, double random) {
        next = now.plus(wait.dividedBy(2)).plus(part(wait.dividedBy(2), random));
        Duration doubled = wait.multipliedBy(2);
        Duration longest = life.dividedBy(LONGEST_WAIT);
        wait = doubled.compareTo(longest) > 0 ? longest : doubled;
    }

    void onRenewed(Instant from, Instant until, double random) {
        RenewalSchedule fresh = new RenewalSchedule(from, until, random);
        life = fresh.life;
        wait = fresh.wait;
        next = fresh.next;
    }

    private static Duration part(Duration whole, double random) {
        return Duration.ofMillis((long) (random * whole.toMillis()));
    }
}
