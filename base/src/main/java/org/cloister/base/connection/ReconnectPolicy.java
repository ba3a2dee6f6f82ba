package org.cloister.base.connection;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Decides when to connect, to probe a silent peer and to drop a connection. No I/O, no clock: every method takes the
 * time, in nanoseconds of any monotonic clock. Back-off doubles from its minimum to its maximum, and starts over after
 * a connection was of use.
 */
public final class ReconnectPolicy {
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
    private final long connectWithin;
    private final Optional<Duration> probeAfter;
    private State state = State.BACKOFF;
    private long until;
    private long backoff;
    private long connections;

    /**
     * @param connectWithin time limit of an attempt
     * @param probeAfter silence before a probe; after as much again the connection counts as lost. Empty: none is sent
     */
    public ReconnectPolicy(
            Duration minBackoff,
            Duration maxBackoff,
            Duration connectWithin,
            Optional<Duration> probeAfter,
            long nowNs) {
        if (minBackoff.isNegative() || minBackoff.isZero() || maxBackoff.compareTo(minBackoff) < 0) {
            throw new IllegalArgumentException(
                    "back-off: want 0 < minimum <= maximum, have " + minBackoff + " and " + maxBackoff);
        }
        this.minBackoff = minBackoff.toNanos();
        this.maxBackoff = maxBackoff.toNanos();
        this.connectWithin = connectWithin.toNanos();
        this.probeAfter = probeAfter;
        this.backoff = this.minBackoff;
        this.until = nowNs;
    }

    /** Returns the action to perform. Call when {@link #untilDue} has passed and after each event. */
    public Action run(long nowNs) {
        OptionalLong wait = untilDue(nowNs);
        if (wait.isEmpty() || wait.getAsLong() > 0) {
            return Action.NONE;
        }
        switch (state) {
            case BACKOFF -> {
                state = State.CONNECTING;
                until = nowNs + connectWithin;
                return Action.CONNECT;
            }
            case ACTIVE -> {
                state = State.PROBED;
                until = nowNs + silence();
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
        until = nowNs + silence();
        connections++;
    }

    /** Records that bytes arrived. */
    public void onBytes(long nowNs) {
        if (state == State.ACTIVE || state == State.PROBED) {
            state = State.ACTIVE;
            until = nowNs + silence();
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

    /** Returns the time until {@link #run} must be called next if no event occurs before; empty if it need not be. */
    public OptionalLong untilDue(long nowNs) {
        return state == State.ACTIVE && probeAfter.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(0, until - nowNs));
    }

    /** Returns the number of connections made. */
    public long connections() {
        return connections;
    }

    private long silence() {
        return probeAfter.orElse(Duration.ZERO).toNanos();
    }
}
