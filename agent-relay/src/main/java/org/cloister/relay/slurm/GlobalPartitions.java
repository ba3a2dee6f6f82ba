package org.cloister.relay.slurm;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Where Global Slurm runs what the relay submits.
 *
 * @param workers for tickets
 * @param controllers for controlling VMs; empty for a relay that takes no openings
 */
public record GlobalPartitions(String workers, Optional<String> controllers) {
    static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}");

    /** @throws IllegalArgumentException if a name is none; the text says which and what is wanted */
    public GlobalPartitions {
        GlobalSlurmSettings.require("partition", NAME, workers);
        controllers.ifPresent(name -> GlobalSlurmSettings.require("controllers", NAME, name));
    }
}
