package org.cloister.relay.slurm;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Partitions of the Global Slurm to which the relay submits.
 *
 * @param workers for tickets
 * @param controllers for controlling VMs; empty for a relay that accepts no openings
 */
public record GlobalPartitions(String workers, Optional<String> controllers) {
    static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}");

    /**
     * Checks the names.
     *
     * @throws IllegalArgumentException if a name is invalid; the text states which one and what is expected
     */
    public GlobalPartitions {
        GlobalSlurmSettings.require("partition", NAME, workers);
        controllers.ifPresent(name -> GlobalSlurmSettings.require("controllers", NAME, name));
    }
}
