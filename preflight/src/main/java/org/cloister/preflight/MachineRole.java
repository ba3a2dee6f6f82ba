package org.cloister.preflight;

import java.util.Locale;

/** Role of a machine. */
public enum MachineRole {
    /** A compute host: runs VMs. */
    HOST,
    /** A guest: a controlling or a worker VM. */
    VM,
    /** A server that runs agent-relay and submits to Global Slurm. */
    RELAY;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
