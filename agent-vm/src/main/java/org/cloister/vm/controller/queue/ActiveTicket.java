package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.vm.controller.tickets.WorkerPhase;

/** A ticket of the ledger and what this process alone knows of it. Its times are {@link ClockReading#elapsedMs}. */
final class ActiveTicket {
    JobTicket entry;
    final WorkerReports reports = new WorkerReports();
    final long requestedMs;
    /** Means nothing while it is open. */
    long closedMs;
    /** Looks in a row in which Slurm did not have its job. */
    int missedPolls;
    /** When the first of these was. Means nothing if there are none. */
    private long missedMs;
    /** When it was placed or first seen so. */
    OptionalLong placedMs = OptionalLong.empty();
    /** When its workers were last told, by this process, to release or withdraw it. */
    private OptionalLong toldMs = OptionalLong.empty();
    /** When all its nodes were first seen idle. */
    private OptionalLong registeredMs = OptionalLong.empty();
    /** Whether slurmctld has written down, for this process, that its job runs. */
    boolean saved;
    /** Whether its statement is made. */
    boolean commentWritten;
    /** Whether that is to be, or was, when slurmctld had forgotten its job for good. */
    boolean commentFinal;

    /** @param now what the ledger says of earlier times is put on this process's own clock, once */
    ActiveTicket(JobTicket entry, ClockReading now) {
        this.entry = entry;
        this.requestedMs = now.elapsedAt(entry.requestedMs());
        this.closedMs = now.elapsedAt(entry.closedMs());
    }

    void recordPoll(boolean there, long nowMs) {
        if (missedPolls == 0) {
            missedMs = nowMs;
        }
        missedPolls = there ? 0 : missedPolls + 1;
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
        toldMs = OptionalLong.of(nowMs);
    }

    boolean isCloseRequestedWithin(long lastMs, long nowMs) {
        return toldMs.isPresent() && nowMs - toldMs.getAsLong() < lastMs;
    }

    /** What the workers say, and what they leave out and can be seen from here. */
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
        // What was written down before a restart is what was seen as it happened.
        all.putAll(entry.phaseDurations());
        all.putAll(reports.slowestPhases());
        return all;
    }
}
