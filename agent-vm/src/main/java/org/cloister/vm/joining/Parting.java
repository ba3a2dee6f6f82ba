package org.cloister.vm.joining;

import java.time.Duration;

/** Why a worker leaves, since when, and how long it may take over its last words. Time is an argument, in nanoseconds. */
final class Parting {
    /** For the last words. */
    static final Duration FAREWELL = Duration.ofSeconds(20);

    private static final long NEVER = Long.MAX_VALUE;

    private String why = "";
    private boolean failed;
    private boolean ended;
    private long leftNs;
    private long hushNs = NEVER;
    private long farewellNs = NEVER;

    void begin(String code, boolean isFailure, long nowNs) {
        why = code;
        failed = isFailure;
        leftNs = nowNs;
    }

    /** The host ends the VM. Words may take half of the time; the rest is for what comes after them. */
    void endedByHost(Duration within, long nowNs) {
        ended = true;
        hushNs = Math.min(hushNs, nowNs + within.toNanos() / 2);
        if (farewellNs != NEVER) {
            farewellNs = Math.min(farewellNs, hushNs);
        }
    }

    String why() {
        return why;
    }

    /** Whether somebody will want to know what happened. */
    boolean isFailure() {
        return failed;
    }

    /** Whether the VM is nobody's any more, be its keys asked about or not. */
    boolean isByHost() {
        return ended;
    }

    Duration took(long nowNs) {
        return Duration.ofNanos(nowNs - leftNs);
    }

    /** Somebody may hear of it, or just did. */
    void speak(long nowNs) {
        farewellNs = Math.min(nowNs + FAREWELL.toNanos(), hushNs);
    }

    /** When nobody is waited for any more; {@link Long#MAX_VALUE} before {@link #speak}. */
    long farewellNs() {
        return farewellNs;
    }
}
