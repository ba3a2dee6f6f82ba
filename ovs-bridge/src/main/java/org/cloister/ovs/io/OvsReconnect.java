package org.cloister.ovs.io;

import java.time.Duration;

/**
 * Decides when to connect, to probe a silent peer and to drop a connection. No I/O, no clock: every method takes the
 * time, in nanoseconds of any monotonic clock. Back-off doubles from its minimum to its maximum, and starts over after
 * a connection was of use.
 */
public final class OvsReconnect {
    /** Action for the owner to perform now. */
    public enum Action {
        NONE,
        CONNECT,
        PROBE,
        DISCONNECT
    }

    private enum State {
        BACKOFF,
        CONNECTING,
        ACTIVE,
        PROBED
    }

    private final long minBackoff;
    private final long maxBackoff;
    private final long probeAfter;
    private State state = State.BACKOFF;
    private long until;
    private long backoff;
    private long connections;

    /** @param probeAfter silence before a probe; after as much again the connection counts as lost */
    public OvsReconnect(Duration minBackoff, Duration maxBackoff, Duration probeAfter, long nowNs) {
        if (minBackoff.isNegative() || minBackoff.isZero() || maxBackoff.compareTo(minBackoff) < 0) {
            throw new IllegalArgumentException(
                    "back-off: want 0 < minimum <= maximum, have " + minBackoff + " and " + maxBackoff);
        }
        this.minBackoff = minBackoff.toNanos();
        this.maxBackoff = maxBackoff.toNanos();
        this.probeAfter = probeAfter.toNanos();
        this.backoff = this.minBackoff;
        this.until = nowNs;
    }

    /** Returns the action to perform. Call at {@link #deadline()} and after each event. */
    public Action run(long nowNs) {
        if (nowNs - until < 0) {
            return Action.NONE;
        }
        switch (state) {
            case BACKOFF -> {
                state = State.CONNECTING;
                until = nowNs + probeAfter;
                return Action.CONNECT;
            }
            case ACTIVE -> {
                state = State.PROBED;
                until = nowNs + probeAfter;
                return Action.PROBE;
            }
            default -> {
                onDisconnected(nowNs);
                return Action.DISCONNECT;
            }
        }
    }

    public void onConnected(long nowNs) {
        state = State.ACTIVE;
        until = nowNs + probeAfter;
        connections++;
    }

    /** Records that bytes arrived. */
    public void onBytes(long nowNs) {
        if (state == State.ACTIVE || state == State.PROBED) {
            state = State.ACTIVE;
            until = nowNs + probeAfter;
        }
    }

    /** Records that the connection was of use; after its loss the next attempt is made at once. */
    public void onUseful() {
        backoff = minBackoff;
    }

    public void onDisconnected(long nowNs) {
        if (state == State.BACKOFF) {
            return;
        }
        state = State.BACKOFF;
        until = nowNs + backoff;
        backoff = Math.min(2 * backoff, maxBackoff);
    }

    /** Returns when {@link #run} must be called next if no event occurs before. */
    public long deadline() {
        return until;
    }

    /** Returns the number of connections made. */
    public long connections() {
        return connections;
    }
}
