package org.cloister.lab.twin;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.cloister.lab.LabException;

/**
 * A job traced by the output of {@code follow.sh}. Its times are the controller's, converted to this machine's clock by
 * the ticks at its end: the tick with the shortest delay is exact up to the delay itself, some hundredths of a second.
 */
final class TracedJob implements Consumer<String> {
    private static final double NANOS = 1e9;
    private final Map<String, String> fields = new ConcurrentHashMap<>();
    private double offset = Double.POSITIVE_INFINITY;

    @Override
    public synchronized void accept(String line) {
        double now = seconds(Instant.now());
        String[] words = line.strip().split(" ", 2);
        if (words.length == 2 && words[0].equals("tick")) {
            offset = Math.min(offset, now - Double.parseDouble(words[1]));
        } else if (words.length == 2) {
            fields.put(words[0], words[1]);
        }
    }

    String id() throws LabException {
        return word("job");
    }

    /** Returns the time of an event by this machine's clock, in seconds since 1970. */
    synchronized double at(String event) throws LabException {
        return Double.parseDouble(word(event)) + offset;
    }

    double submitToStart() throws LabException {
        return at("first") - at("submit");
    }

    /**
     * Returns when systemd in the guest started the first unit of the job's side, by this machine's clock. The kernel's
     * first device represents the kernel's start, about a second after it under emulation, on both sides.
     */
    double firstUnit() throws LabException {
        return worker(Double.parseDouble(word("unit")) - Double.parseDouble(word("devices")));
    }

    /** Returns when the worker's kernel had counted so many seconds, by this machine's clock. */
    double worker(double sinceKernel) throws LabException {
        return at("read") - Double.parseDouble(word("uptime")) + sinceKernel;
    }

    static double seconds(Instant instant) {
        return instant.getEpochSecond() + instant.getNano() / NANOS;
    }

    private String word(String name) throws LabException {
        String found = fields.get(name);
        if (found == null || found.isBlank()) {
            throw new LabException("follow.sh: no " + name + " among " + fields, "run it by hand on the controller");
        }
        return found;
    }
}
