package org.cloister.transport.link;

import java.time.Duration;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ReconnectDelay;

/**
 * Decides when an agent dials, and when it abandons an attempt; the state diagram is in docs/protocol.md, section 7. It
 * has no I/O, no clock and no randomness of its own: times are nanoseconds of any monotonic clock, {@code random} is in
 * [0, 1).
 */
public final class LinkReconnectPolicy {
    /** Next action of the caller. */
    public enum Action {
        NONE,
        DIAL,
        /** Close the dialled connection: it was not attached in time. Then call {@link #onLost}. */
        ABANDON
    }

    private enum State {
        WAITING,
        DIALLING,
        ATTACHED
    }

    /**
     * Delays and time limits of an agent.
     *
     * @param defaultDelay the delay before the other side has sent one
     * @param longest limit of the delay, which grows with each failure
     * @param attachWithin time limit from dialling to the attachment
     */
    public record Settings(ReconnectDelay defaultDelay, Duration longest, Duration attachWithin) {
        /** Settings for a relay, which many agents dial. */
        public static final Settings LINK =
                new Settings(ReconnectDelay.DEFAULT, Duration.ofSeconds(60), Duration.ofSeconds(20));

        /** Settings for a VM's own host: it serves no other agent on the channel, and may be away for long. */
        public static final Settings CHANNEL = new Settings(
                ReconnectDelay.ON_CHANNEL,
                ReconnectDelay.ON_CHANNEL.atLeast(),
                ProtocolLimits.MARK_TIME.plus(Duration.ofSeconds(20)));
    }

    private final Settings terms;
    private State state = State.WAITING;
    private ReconnectDelay delay;
    private long until;
    private int failures;

    public LinkReconnectPolicy(Settings terms, long nowNs) {
        this.terms = terms;
        this.delay = terms.defaultDelay;
        this.until = nowNs;
    }

    /** Returns the next action; call it at {@link #deadlineNs()}. */
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

    /**
     * Records that the agent is attached.
     *
     * @param newDelay the relay's delay for the next attempt
     */
    public void onAttached(ReconnectDelay newDelay) {
        state = State.ATTACHED;
        delay = newDelay;
        failures = 0;
    }

    /** Records that the connection ended, was refused or was abandoned. */
    public void onLost(long nowNs, double random) {
        if (state == State.WAITING) {
            return;
        }
        boolean wasAttached = state == State.ATTACHED;
        state = State.WAITING;
        failures = wasAttached ? 0 : Math.min(failures + 1, 30);
        until = nowNs + pause(random);
    }

    /**
     * Records that the relay is stopping: the caller keeps the connection for its circuits and dials another one in
     * time.
     */
    public void onDrain(ReconnectDelay newDelay, long nowNs, double random) {
        delay = newDelay;
        state = State.ATTACHED;
        onLost(nowNs, random);
    }

    /** Returns the time at which {@link #run} must be called next. */
    public long deadlineNs() {
        return until;
    }

    public boolean attached() {
        return state == State.ATTACHED;
    }

    private long pause(double random) {
        long atLeast = delay.atLeast().toNanos();
        long spread = delay.spread().toNanos();
        if (failures == 0) {
            return atLeast + (long) (random * spread);
        }
        double doubled = Math.min(
                (double) terms.longest.toNanos(),
                Math.max(terms.defaultDelay.atLeast().toNanos(), atLeast + spread) * Math.pow(2, failures));
        return (long) (doubled / 2 + random * doubled / 2);
    }
}
