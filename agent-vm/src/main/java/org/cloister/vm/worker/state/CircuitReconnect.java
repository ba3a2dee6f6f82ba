package org.cloister.vm.worker.state;

import java.time.Duration;

/** The one circuit of a worker, and when it is called for anew: at once, then at a growing pace until something is heard. */
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

    /** Whether there is none, and none on its way. */
    boolean isClosed() {
        return state == State.NONE;
    }

    /** When it may be called for, if it is wanting. */
    long connectNs() {
        return callNs;
    }

    void onConnecting() {
        state = State.CALLING;
    }

    /** Its end is on its way. */
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
