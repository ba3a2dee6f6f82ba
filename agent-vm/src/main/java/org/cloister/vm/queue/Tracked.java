package org.cloister.vm.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.vm.worker.Phase;

/** A ticket of the ledger and what this process alone knows of it. */
final class Tracked {
    Entry entry;
    final Heard heard = new Heard();
    /** Looks in a row in which Slurm did not have its job. */
    int missing;
    /** When it was placed or first seen so. */
    OptionalLong placedMs = OptionalLong.empty();
    /** When its workers were last told to release or withdraw it; 0 if not by this process. */
    long toldMs;
    /** When all its nodes were first seen idle. */
    private OptionalLong registeredMs = OptionalLong.empty();
    /** Whether its statement is made. */
    boolean stated;

    Tracked(Entry entry) {
        this.entry = entry;
    }

    void registered(long nowMs) {
        if (registeredMs.isEmpty()) {
            registeredMs = OptionalLong.of(nowMs);
        }
    }

    /** What the workers say, and what they leave out and can be seen from here. */
    Map<Phase, Duration> seconds() {
        Map<Phase, Duration> all = new EnumMap<>(Phase.class);
        if (heard.slots().isPresent()) {
            all.put(Phase.QUEUE, Duration.ofMillis(Math.max(0, heard.allocatedMs() - entry.askedMs())));
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
