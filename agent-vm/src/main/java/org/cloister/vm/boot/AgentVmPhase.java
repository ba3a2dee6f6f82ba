package org.cloister.vm.boot;

import java.util.Locale;

/** How far a boot is, as agent-vm sees it. */
public enum AgentVmPhase {
    /** It runs. */
    STARTED,
    /** It has the keys of this boot. */
    KEYS,
    /** Its host answers on the channel. */
    ATTACHED,
    /** It was told what it is for. */
    ASSIGNED,
    /** Its host has vouched for it. */
    VOUCHED,
    /** It has what makes it somebody. */
    GIVEN,
    /** Of a worker: the way to its controlling VM is there. */
    TUNNEL,
    /** It does what it is for. */
    READY,
    /** It ends. */
    LEAVING,
    /** Its host does no more; agent-vm tries for ever. */
    LOST;

    /** As in the status file. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
