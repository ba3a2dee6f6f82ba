package org.cloister.vm.machine;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of this VM, whatever it was for: its host takes it away. May be asked for again. */
public final class PowerOff {
    private static final Logger LOG = LoggerFactory.getLogger(PowerOff.class);

    private final Programs programs;

    public PowerOff(Programs programs) {
        this.programs = programs;
    }

    /** Returns before it is off. */
    public void begin() {
        try {
            programs.succeed("systemctl", "--no-block", "poweroff");
        } catch (IOException e) {
            LOG.error("VM: does not go off: {}", e.getMessage());
        }
    }
}
