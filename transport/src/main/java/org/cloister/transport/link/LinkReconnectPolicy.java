package org.cloister.transport.link;

import java.time.Duration;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;

/**
 * When an agent dials, and when it gives up an attempt; the state diagram of docs/protocol.md, section 7. No I/O, no clock,
 * no randomness of its own: times are nanoseconds of any clock that only grows, {@code random} is in [0, 1).
 */
public final class LinkReconnectPolicy {
    /** What the owner should do now. */
    public enum Action {
        NONE,
        DIAL,
        /** Close what was dialled: it did not become attached in time. Then tell {@link #onLost}. */
        ABANDON
    }

    private enum State {
        WAITING,
        DIALLING,
        ATTACHED
    }

    /**
     * How patient an agent is.
     *
     * @param defaultDelay the pace before one was said
     * @param longest of the waits that grow with each failure
     * @param attachWithin from dialling
     */
    public record Settings(ReconnectDelay defaultDelay, Duration longest, Duration attachWithin) {
        /** Towards a relay, which many agents dial. */
        public static final Settings LINK =
                new Settings(ReconnectDelay.DEFAULT, Duration.ofSeconds(60), Duration.ofSeconds(20));

        /** Towards a VM's own host: it has nobody else to answer, and may be away for long. */
        public static final Settings CHANNEL = new Settings(
                ReconnectDelay.ON_CHANNEL,
                ReconnectDelay.ON_CHANNEL.atLeast(),
                ProtocolLimits.MARK_TIME.plus(Duration.ofSeconds(20)));
    }

    private final Settings terms;
    private State state = State.WAITING;
    private ReconnectDelay pace;
    private long until;
    private int failures;

    public LinkReconnectPolicy(Settings terms, long nowNs) {
        this.terms = terms;
        this.pace = terms.defaultDelay;
        this.until = nowNs;
    }

    /** Call at {@link #deadlineNs()}. */
    public Action run(long nowNs) {
        if (state == State.ATTACHED || nowNs - until < 0) {
            return Action.NONE;
        }
        if (state == State.DIALLING) {
            return Action.ABANDON;
        }
        state = State.DIALLING;
        until = nowNs + terms.attachWithin.toNanos();
        return Action.DIAL;
    }

    /** @param told the relay's pace for the next time */
    public void onAttached(ReconnectDelay told) {
        state = State.ATTACHED;
        pace = told;
        failures = 0;
    }

    /** The connection ended, was refused or was abandoned. */
    public void onLost(long nowNs, double random) {
        if (state == State.WAITING) {
            return;
        }
        boolean wasAttached = state == State.ATTACHED;
        state = State.WAITING;
        failures = wasAttached ? 0 : Math.min(failures + 1, 30);
        until = nowNs + pause(random);
    }

    /** The relay stops: the owner keeps the connection for its circuits and dials another one in time. */
    public void onDrain(ReconnectDelay told, long nowNs, double random) {
        pace = told;
        state = State.ATTACHED;
        onLost(nowNs, random);
    }

    /** When {@link #run} has something to say. */
    public long deadlineNs() {
        return until;
    }

    public boolean attached() {
        return state == State.ATTACHED;
    }

    private long pause(double random) {
        long atLeast = pace.atLeast().toNanos();
        long spread = pace.spread().toNanos();
        if (failures == 0) {
            return atLeast + (long) (random * spread);
        }
        double doubled = Math.min(
                (double) terms.longest.toNanos(),
                Math.max(terms.defaultDelay.atLeast().toNanos(), atLeast + spread) * Math.pow(2, failures));
        return (long) (doubled / 2 + random * doubled / 2);
    }
}
