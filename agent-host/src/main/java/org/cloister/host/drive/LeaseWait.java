package org.cloister.host.drive;

import java.time.Duration;

/** How time goes by for somebody who waits for a drive: by a clock of this process's alone. */
public interface LeaseWait {
    long nowNs();

    /** @return false if nobody waits any more */
    boolean pause(Duration time) throws InterruptedException;
}
