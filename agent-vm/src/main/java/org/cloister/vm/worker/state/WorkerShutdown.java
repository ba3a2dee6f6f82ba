package org.cloister.vm.worker.state;

import java.time.Duration;

/**
 * Reason and time of a worker's shutdown, and the time limit of its final report. Time is an argument, in nanoseconds.
 */
public final class WorkerShutdown {
    /**
     * Time limit of the final report, without which the job's receipt is not complete: another circuit, if this one
     * broke, and a controlling VM that is busy.
     */
    public static final Duration REPORT_LIMIT = CircuitReconnect.MAX_DELAY.plusSeconds(30);

    private static final long NEVER = Long.MAX_VALUE;

    private String reason = "";
    private boolean failed;
    private boolean requestedByHost;
    private long startNs;
    private long hostDeadlineNs = NEVER;
    private long reportDeadlineNs = NEVER;

    void start(String code, boolean isFailure, long nowNs) {
        reason = code;
        failed = isFailure;
        startNs = nowNs;
    }

    /** Records that the host ends the VM. The report may take half of the time; the rest is for the steps after it. */
    void onHostShutdown(Duration within, long nowNs) {
        requestedByHost = true;
        hostDeadlineNs = Math.min(hostDeadlineNs, nowNs + within.toNanos() / 2);
        if (reportDeadlineNs != NEVER) {
            reportDeadlineNs = Math.min(reportDeadlineNs, hostDeadlineNs);
        }
    }

    String reason() {
        return reason;
    }

    /** Returns whether the shutdown is a failure, so that its cause is of interest. */
    boolean isFailure() {
        return failed;
    }

    /** Returns whether the host ends the VM, which then powers off whether or not evidence was requested. */
    boolean isRequestedByHost() {
        return requestedByHost;
    }

    Duration duration(long nowNs) {
        return Duration.ofNanos(nowNs - startNs);
    }

    /** Starts the report's time limit, when a report can be or was sent. */
    void startReportTimeout(long nowNs) {
        reportDeadlineNs = Math.min(nowNs + REPORT_LIMIT.toNanos(), hostDeadlineNs);
    }

    /** Returns when waiting for the report ends; {@link Long#MAX_VALUE} before {@link #startReportTimeout}. */
    long reportDeadlineNs() {
        return reportDeadlineNs;
    }
}
