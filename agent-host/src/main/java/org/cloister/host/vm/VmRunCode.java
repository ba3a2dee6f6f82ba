package org.cloister.host.vm;

import java.util.Locale;

/** Code of a VM run's result, which callers branch on. A released name never changes. */
public enum VmRunCode {
    /** The guest powered off by itself. */
    DONE,
    /** The job or an operator stopped the VM. */
    STOPPED,
    /** The ticket, the allocation or the caller failed a check. */
    REFUSED,
    /** Relay, Slurm, libvirt or the bridge did not answer; a retry may succeed. */
    UNAVAILABLE,
    /** The VM failed: it crashed, or never registered. */
    GUEST,
    /** This host failed and needs an operator's attention. */
    HOST;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
