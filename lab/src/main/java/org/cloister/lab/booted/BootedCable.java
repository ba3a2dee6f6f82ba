package org.cloister.lab.booted;

import java.util.Locale;

/** Cables of a booted machine, by the network that they lead to. */
public enum BootedCable {
    /** Cable to the management network, on {@code eth0}: Slurm, the relay, ssh. */
    MGMT,
    /** Cable to the trunk between hosts, on {@code eth1}. */
    TRUNK;

    /** Name of the network's bridge. */
    String bridge() {
        return name().toLowerCase(Locale.ROOT);
    }
}
