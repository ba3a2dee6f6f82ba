package org.cloister.vm.worker.state;

import java.time.Duration;

/** Why a worker leaves, since when, and how long it may take over its last words. Time is an argument, in nanoseconds. */
public final class WorkerShutdown {
    /** For the last words. */
    public static final Duration REPORT_LIMIT = Duration.ofSeconds(20);

    private static final long NEVER = Long.MAX_VALUE;

    private String why = "";
    private boolean failed;
    private boolean ended;
    private long leftNs;
    private long hushNs = NEVER;
    private long farewellNs = NEVER;

    void start(String code, boolean isFailure, long nowNs) {
        why = code;
        failed = isFailure;
        leftNs = nowNs;
    }

    /** The host ends the VM. Words may take half of the time; the rest is for what comes after them. */
    void onHostShutdown(Duration within, long nowNs) {
        ended = true;
        hushNs = Math.min(hushNs, nowNs + within.toNanos() / 2);
        if (farewellNs != NEVER) {
            farewellNs = Math.min(farewellNs, hushNs);
        }
    }

    String reason() {
        return why;
    }

    /** Whether somebody will want to know what happened. */
    boolean isFailure() {
        return failed;
    }

    /** Whether the VM is nobody's any more, be its keys asked about or not. */
    boolean isRequestedByHost() {
        return ended;
    }

    Duration duration(long nowNs) {
        return Duration.ofNanos(nowNs - leftNs);
    }

    /** Somebody may hear of it, or just did. */
    void startReportTimeout(long nowNs) {
        farewellNs = Math.min(nowNs + REPORT_LIMIT.toNanos(), hushNs);
    }

    /** When nobody is waited for any more; {@link Long#MAX_VALUE} before {@link #startReportTimeout}. */
    long reportDeadlineNs() {
        return farewellNs;
    }
}
