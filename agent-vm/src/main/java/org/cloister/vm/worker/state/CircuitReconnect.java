package org.cloister.vm.worker.state;

import java.time.Duration;

/**
 * State of a worker's one circuit and the time of its next attempt: at once, then with a growing delay until a message
 * arrives.
 */
final class CircuitReconnect {
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private enum State {
        NONE,
        CALLING,
        OPEN
    }

    private State state = State.NONE;
    private Duration pause = FIRST_PAUSE;
    private long callNs;

    CircuitReconnect(long nowNs) {
        this.callNs = nowNs;
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
        return callNs;
    }

    void onConnecting() {
        state = State.CALLING;
    }

    /** Records that the circuit will close. */
    void onClosing() {
        state = State.CALLING;
    }

    void onOpened() {
        state = State.OPEN;
    }

    void onMessage() {
        pause = FIRST_PAUSE;
    }

    void onClosed(long nowNs) {
        state = State.NONE;
        callNs = nowNs + pause.toNanos();
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
    }
}
