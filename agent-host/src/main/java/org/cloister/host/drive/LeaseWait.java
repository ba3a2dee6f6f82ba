package org.cloister.host.drive;

import java.time.Duration;

/** Clock and pause of a caller that waits for a drive; the clock is this process's only. */
public interface LeaseWait {
    long nowNs();

    /**
     * Pauses.
     *
     * @return false if the caller has stopped waiting
     */
    boolean pause(Duration time) throws InterruptedException;
}
