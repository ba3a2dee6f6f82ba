package org.cloister.host.health;

import java.util.Optional;
import java.util.Set;

/**
 * State of this node in the Global Slurm.
 *
 * @param flags its state and flags, such as {@code idle} and {@code drain}
 * @param reason text given by the user who set the state; while the node accepts jobs it is past, or none
 */
public record SlurmNodeState(Set<String> flags, String reason) {
    public SlurmNodeState {
        flags = Set.copyOf(flags);
    }

    /** Returns whether the node is out of service for any reason; then no job starts on it. */
    public boolean isOutOfService() {
        return isDown() || flags.contains("drain");
    }

    /** Returns whether the node is down. To resume such a node would assert that it answers, which we do not know. */
    public boolean isDown() {
        return flags.contains("down") || flags.contains("fail") || flags.contains("error");
    }

    /** Returns the reason of our drain; empty if the node accepts jobs, or if someone else took it out of service. */
    public Optional<DrainReason> ours() {
        return flags.contains("drain") ? DrainReason.parse(reason) : Optional.empty();
    }

    /**
     * Returns the reason of a past drain of ours, which Slurm 24.11 keeps on a node in service. It must not stay: some
     * drains by slurmctld leave an existing reason as it is, so that we would take them for ours.
     */
    public Optional<DrainReason> past() {
        return isOutOfService() ? Optional.empty() : DrainReason.parse(reason);
    }
}
