package org.cloister.protocol.handover;

import java.util.Arrays;
import java.util.Locale;

/** Phases of a VM, in this order; docs/protocol.md, section 11. */
public enum BootPhase {
    /** Boot, from the kernel's start to the assignment. */
    BOOT,
    /** Evidence, from the circuit's opening to the host's statement. */
    EVIDENCE,
    /** Hand-over or unlock, from the statement to the keys. */
    KEYS,
    /** A controlling VM opens its drive. */
    DRIVE,
    /** A worker sets up its tunnel to its controlling VM. */
    TUNNEL,
    /** A worker sets up its node until slurmd is registered. */
    REGISTRATION,
    /** The VM removes its state, to the last trace. */
    TEARDOWN;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Parses a phase.
     *
     * @throws IllegalArgumentException if the word names no phase
     */
    static BootPhase parse(String word) {
        return Arrays.stream(values())
                .filter(phase -> phase.toString().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "phase: want one of section 11, have " + HandoverChecks.other(word)));
    }
}
