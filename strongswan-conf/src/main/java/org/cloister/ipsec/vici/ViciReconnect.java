package org.cloister.ipsec.vici;

import java.time.Duration;

/**
 * Decides when to connect to charon. No I/O, no clock: every method takes the time, in nanoseconds of any monotonic
 * clock. The pause doubles from its minimum to its maximum, and starts over after a connection was of use.
 */
public final class ViciReconnect {
    private enum State {
        PAUSED,
        CONNECTING,
        ACTIVE,
        CLOSED
    }

    private final long shortest;
    private final long longest;
    private final long timeoutNs;
    private State state = State.PAUSED;
    private long until;
    private long pause;

    /** @param timeout limit for connecting, and then for the registrations */
    public ViciReconnect(Duration shortest, Duration longest, Duration timeout, long nowNs) {
        if (shortest.isNegative() || shortest.isZero() || longest.compareTo(shortest) < 0) {
            throw new IllegalArgumentException(
                    "pause: want 0 < shortest <= longest, have " + shortest + " and " + longest);
        }
        this.shortest = shortest.toNanos();
        this.longest = longest.toNanos();
        this.timeoutNs = timeout.toNanos();
        this.pause = this.shortest;
        this.until = nowNs;
    }

    /** Returns whether to connect now; true once for each attempt. An attempt that takes too long has failed. */
    public boolean due(long nowNs) {
        if (state == State.CONNECTING && nowNs - until >= 0) {
            onLost(nowNs);
        }
        if (state != State.PAUSED || nowNs - until < 0) {
            return false;
        }
        state = State.CONNECTING;
        until = nowNs + timeoutNs;
        return true;
    }

    /** Records that the client is connected and registered. */
    public void onUseful() {
        state = State.ACTIVE;
        pause = shortest;
    }

    public void onLost(long nowNs) {
        if (state != State.CLOSED && state != State.PAUSED) {
            state = State.PAUSED;
            until = nowNs + pause;
            pause = Math.min(2 * pause, longest);
        }
    }

    public void onClose() {
        state = State.CLOSED;
    }

    /** Returns the time until {@link #due} must be called next, or a negative number if it need not be. */
    public long untilDue(long nowNs) {
        return state == State.ACTIVE || state == State.CLOSED ? -1 : Math.max(0, until - nowNs);
    }
}
