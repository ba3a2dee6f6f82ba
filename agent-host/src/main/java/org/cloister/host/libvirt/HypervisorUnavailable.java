package org.cloister.host.libvirt;

import java.io.IOException;

/** The hypervisor did not say. What was asked for may have happened or not. */
public final class HypervisorUnavailable extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message what was asked, what came, and what to look at */
    public HypervisorUnavailable(String message) {
        super(message);
    }
}
