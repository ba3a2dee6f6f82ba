package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** A ticket of the journal, with state that only this process has. Its times are {@link ClockReading#elapsedMs}. */
final class ActiveTicket {
    JobTicket entry;
    final WorkerReports reports = new WorkerReports();
    final long requestedMs;
    /** Undefined while the ticket is open. */
    long closedMs;
    /** Consecutive polls in which Slurm did not have the ticket's job. */
    int missedPolls;
    /** Time of the first of these polls; undefined if there are none. */
    private long missedMs;
    /** Time when the job was assigned, or first seen so. */
    OptionalLong placedMs = OptionalLong.empty();
    /** Time when this process last asked the workers to release or withdraw the ticket. */
    private OptionalLong closeRequestedMs = OptionalLong.empty();
    /** Time when all its nodes were first seen idle. */
    private OptionalLong registeredMs = OptionalLong.empty();
    /** True if slurmctld has saved, at this process's request, that the job runs. */
    boolean saved;
    /** True if the job's AdminComment is written, or was given up. */
    boolean commentWritten;
    /** True if the comment is to be written, or was written, after slurmctld had forgotten the job for good. */
    boolean commentFinal;

    /** @param now converts the journal's times to this process's own clock, once */
    ActiveTicket(JobTicket entry, ClockReading now) {
        this.entry = entry;
        this.requestedMs = now.elapsedAt(entry.requestedMs());
        this.closedMs = now.elapsedAt(entry.closedMs());
    }

    void recordPoll(boolean present, long nowMs) {
        if (missedPolls == 0) {
            missedMs = nowMs;
        }
        missedPolls = present ? 0 : missedPolls + 1;
    }

    boolean isMissedFor(long forMs, long nowMs) {
        return missedPolls > 0 && nowMs - missedMs >= forMs;
    }

    void recordRegistration(long nowMs) {
        if (registeredMs.isEmpty()) {
            registeredMs = OptionalLong.of(nowMs);
        }
    }

    void recordCloseRequest(long nowMs) {
        closeRequestedMs = OptionalLong.of(nowMs);
    }

    boolean isCloseRequestedWithin(long lastMs, long nowMs) {
        return closeRequestedMs.isPresent() && nowMs - closeRequestedMs.getAsLong() < lastMs;
    }

    /** Returns the durations that the workers reported, and those that they omit and that can be observed here. */
    Map<WorkerPhase, Duration> phaseDurations() {
        Map<WorkerPhase, Duration> all = new EnumMap<>(WorkerPhase.class);
        if (reports.slots().isPresent()) {
            all.put(WorkerPhase.QUEUE, Duration.ofMillis(Math.max(0, reports.allocatedMs() - requestedMs)));
        }
        if (registeredMs.isPresent()) {
            all.put(
                    WorkerPhase.REGISTRATION,
                    Duration.ofMillis(Math.max(0, registeredMs.getAsLong() - reports.readyMs())));
        }
        // Durations recorded before a restart were observed as they happened.
        all.putAll(entry.phaseDurations());
        all.putAll(reports.slowestPhases());
        return all;
    }
}
