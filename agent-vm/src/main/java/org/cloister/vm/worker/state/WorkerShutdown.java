package org.cloister.vm.worker.state;

import java.time.Duration;

/**
 * Reason and time of a worker's shutdown, and the time limit of its final report. Time is an argument, in nanoseconds.
 */
public final class WorkerShutdown {
    /** Time limit of the final report. */
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

    /** Records that the host ends the VM. The report may take half of the time; the rest is for the steps after it. */
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

    /** Returns whether the shutdown is a failure, so that its cause is of interest. */
    boolean isFailure() {
        return failed;
    }

    /** Returns whether the host ends the VM, which then powers off whether or not evidence was requested. */
    boolean isRequestedByHost() {
        return ended;
    }

    Duration duration(long nowNs) {
        return Duration.ofNanos(nowNs - leftNs);
    }

    /** Starts the report's time limit, when a report can be or was sent. */
    void startReportTimeout(long nowNs) {
        farewellNs = Math.min(nowNs + REPORT_LIMIT.toNanos(), hushNs);
    }

    /** Returns when waiting for the report ends; {@link Long#MAX_VALUE} before {@link #startReportTimeout}. */
    long reportDeadlineNs() {
        return farewellNs;
    }
}
