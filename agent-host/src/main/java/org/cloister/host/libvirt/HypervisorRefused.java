package org.cloister.host.libvirt;

import java.io.IOException;

/** The hypervisor said no, and nothing has changed. */
public final class HypervisorRefused extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message what was asked of which domain, and the hypervisor's reason */
    public HypervisorRefused(String message) {
        super(message);
    }
}
