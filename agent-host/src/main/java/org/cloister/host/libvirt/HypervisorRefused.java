package org.cloister.host.libvirt;

import java.io.IOException;

/** Thrown if the hypervisor refused a request; nothing has changed. */
public final class HypervisorRefused extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message the request, its domain and the hypervisor's reason */
    public HypervisorRefused(String message) {
        super(message);
    }
}
