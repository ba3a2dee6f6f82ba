package org.cloister.vm.system;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.cloister.base.process.ProcessRunner;

/** Sets the machine's clock. */
public final class SystemClock {
    private final ProcessRunner programs;
    private final InstantSource clock;

    public SystemClock(ProcessRunner programs, InstantSource clock) {
        this.programs = programs;
        this.clock = clock;
    }

    /**
     * Sets the clock.
     *
     * @return how far the clock was from that time
     */
    public Duration set(Instant time) throws IOException {
        Duration difference = Duration.between(clock.instant(), time).abs();
        programs.runChecked("date", "--utc", "--set=@" + time.getEpochSecond() + "." + millis(time));
        return difference;
    }

    private static String millis(Instant time) {
        return String.format(java.util.Locale.ROOT, "%03d", time.toEpochMilli() % 1000);
    }
}
