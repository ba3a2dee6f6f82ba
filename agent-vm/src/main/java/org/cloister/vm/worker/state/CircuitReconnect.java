package org.cloister.vm.worker.state;

import java.time.Duration;

/**
 * State of a worker's one circuit and the time of its next attempt: at once, then with a growing delay until a message
 * arrives.
 */
final class CircuitReconnect {
    private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
    static final Duration MAX_DELAY = Duration.ofSeconds(30);

    private enum State {
        NONE,
        CONNECTING,
        OPEN
    }

    private State state = State.NONE;
    private Duration delay = FIRST_DELAY;
    private long connectNs;

    CircuitReconnect(long nowNs) {
        this.connectNs = nowNs;
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    /** Returns whether there is neither a circuit nor an attempt to open one. */
    boolean isClosed() {
        return state == State.NONE;
    }

    /** Returns the earliest time for an attempt, if there is no circuit. */
    long connectNs() {
        return connectNs;
    }

    void onConnecting() {
        state = State.CONNECTING;
    }

    /** Records that the circuit will close. */
    void onClosing() {
        state = State.CONNECTING;
    }

    void onOpened() {
        state = State.OPEN;
    }

    void onMessage() {
        delay = FIRST_DELAY;
    }

    void onClosed(long nowNs) {
        state = State.NONE;
        connectNs = nowNs + delay.toNanos();
        Duration doubled = delay.multipliedBy(2);
        delay = doubled.compareTo(MAX_DELAY) > 0 ? MAX_DELAY : doubled;
    }
}
