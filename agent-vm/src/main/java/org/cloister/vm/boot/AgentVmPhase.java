package org.cloister.vm.boot;

import java.util.Locale;

/** Phase of a boot, as agent-vm sees it. */
public enum AgentVmPhase {
    /** The process runs. */
    STARTED,
    /** The process has the keys of this boot. */
    KEYS,
    /** The host answers on the channel. */
    ATTACHED,
    /** The VM has received its assignment. */
    ASSIGNED,
    /** The host has signed evidence about the VM. */
    VOUCHED,
    /** The VM has received its credentials and keys. */
    GIVEN,
    /** Only in a worker: the tunnel to its controlling VM is up. */
    TUNNEL,
    /** The VM performs its role. */
    READY,
    /** The VM is shutting down. */
    LEAVING,
    /** The channel to the host is lost; agent-vm keeps trying to reattach. */
    LOST;

    /** Returns the word of the status file. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
