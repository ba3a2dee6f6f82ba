package org.cloister.preflight;

import java.util.Locale;

/** What the machine is to be. */
public enum MachineRole {
    /** A compute host: runs VMs. */
    HOST,
    /** A guest: a controlling or a worker VM. */
    VM,
    /** Where agent-relay runs and submits to Global Slurm. */
    RELAY;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
