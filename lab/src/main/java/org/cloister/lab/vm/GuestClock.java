package org.cloister.lab.vm;

import java.io.IOException;
import org.cloister.lab.LabVm;

/**
 * A guest's time since its kernel began, from outside: what agent-vm counts its phases by.
 *
 * @param beganNs when it began, by this process' clock
 */
record GuestClock(long beganNs) {
    private static final double SECOND = 1e9;

    /** Half of what the question takes is not known. */
    static GuestClock of(LabVm vm) throws IOException {
        long askedNs = System.nanoTime();
        String uptime = vm.succeed("cat", "/proc/uptime");
        long heardNs = System.nanoTime();
        double seconds = Double.parseDouble(uptime.split(" ", 2)[0]);
        return new GuestClock(askedNs + (heardNs - askedNs) / 2 - (long) (seconds * SECOND));
    }

    double at(long ns) {
        return (ns - beganNs) / SECOND;
    }
}
