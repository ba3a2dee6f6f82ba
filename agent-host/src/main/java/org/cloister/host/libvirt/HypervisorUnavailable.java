package org.cloister.host.libvirt;

import java.io.IOException;

/** Thrown if the hypervisor did not answer; the request may have been carried out or not. */
public final class HypervisorUnavailable extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message the request, the response if any, and what to check */
    public HypervisorUnavailable(String message) {
        super(message);
    }
}
