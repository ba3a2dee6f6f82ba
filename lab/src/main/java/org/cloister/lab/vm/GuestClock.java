package org.cloister.lab.vm;

import java.io.IOException;
import org.cloister.lab.LabVm;

/**
 * A guest's time since its kernel began, measured from outside: the time by which agent-vm counts its phases.
 *
 * @param startNs when it began, by this process' clock
 */
record GuestClock(long startNs) {
    private static final double SECOND = 1e9;

    /** Reads the clock. Half of the query's duration is the error. */
    static GuestClock of(LabVm vm) throws IOException {
        long sentNs = System.nanoTime();
        String uptime = vm.succeed("cat", "/proc/uptime");
        long receivedNs = System.nanoTime();
        double seconds = Double.parseDouble(uptime.split(" ", 2)[0]);
        return new GuestClock(sentNs + (receivedNs - sentNs) / 2 - (long) (seconds * SECOND));
    }

    double at(long ns) {
        return (ns - startNs) / SECOND;
    }
}
