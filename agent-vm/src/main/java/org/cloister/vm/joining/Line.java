package org.cloister.vm.joining;

import java.time.Duration;

/** The one circuit of a worker, and when it is called for anew: at once, then at a growing pace until something is heard. */
final class Line {
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

    Line(long nowNs) {
        this.callNs = nowNs;
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    /** Whether there is none, and none on its way. */
    boolean isWanting() {
        return state == State.NONE;
    }

    /** When it may be called for, if it is wanting. */
    long callNs() {
        return callNs;
    }

    void called() {
        state = State.CALLING;
    }

    /** Its end is on its way. */
    void hungUp() {
        state = State.CALLING;
    }

    void opened() {
        state = State.OPEN;
    }

    void heard() {
        pause = FIRST_PAUSE;
    }

    void closed(long nowNs) {
        state = State.NONE;
        callNs = nowNs + pause.toNanos();
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
    }
}
