package org.cloister.vm.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.vm.worker.Phase;

/** A ticket of the ledger and what this process alone knows of it. Its times are {@link Moment#elapsedMs}. */
final class Tracked {
    Entry entry;
    final Heard heard = new Heard();
    final long askedMs;
    /** Means nothing while it is open. */
    long closedMs;
    /** Looks in a row in which Slurm did not have its job. */
    int missing;
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
    boolean stated;
    /** Whether that is to be, or was, when slurmctld had forgotten its job for good. */
    boolean last;

    /** @param now what the ledger says of earlier times is put on this process's own clock, once */
    Tracked(Entry entry, Moment now) {
        this.entry = entry;
        this.askedMs = now.elapsedAt(entry.askedMs());
        this.closedMs = now.elapsedAt(entry.closedMs());
    }

    void looked(boolean there, long nowMs) {
        if (missing == 0) {
            missedMs = nowMs;
        }
        missing = there ? 0 : missing + 1;
    }

    boolean isMissedFor(long forMs, long nowMs) {
        return missing > 0 && nowMs - missedMs >= forMs;
    }

    void registered(long nowMs) {
        if (registeredMs.isEmpty()) {
            registeredMs = OptionalLong.of(nowMs);
        }
    }

    void told(long nowMs) {
        toldMs = OptionalLong.of(nowMs);
    }

    boolean isToldWithin(long lastMs, long nowMs) {
        return toldMs.isPresent() && nowMs - toldMs.getAsLong() < lastMs;
    }

    /** What the workers say, and what they leave out and can be seen from here. */
    Map<Phase, Duration> seconds() {
        Map<Phase, Duration> all = new EnumMap<>(Phase.class);
        if (heard.slots().isPresent()) {
            all.put(Phase.QUEUE, Duration.ofMillis(Math.max(0, heard.allocatedMs() - askedMs)));
        }
        if (registeredMs.isPresent()) {
            all.put(Phase.REGISTRATION, Duration.ofMillis(Math.max(0, registeredMs.getAsLong() - heard.readyMs())));
        }
        // What was written down before a restart is what was seen as it happened.
        all.putAll(entry.seconds());
        all.putAll(heard.slowest());
        return all;
    }
}
