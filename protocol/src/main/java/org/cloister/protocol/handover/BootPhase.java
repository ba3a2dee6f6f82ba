package org.cloister.protocol.handover;

import java.util.Arrays;
import java.util.Locale;

/** What a VM goes through, in this order; docs/protocol.md, section 11. */
public enum BootPhase {
    /** From the kernel to the assignment. */
    BOOT,
    /** From the circuit to the host's statement. */
    EVIDENCE,
    /** From the statement to the keys. */
    KEYS,
    /** Of a controlling VM: its drive. */
    DRIVE,
    /** Of a worker: the way to its controlling VM. */
    TUNNEL,
    /** Of a worker: to slurmd. */
    REGISTRATION,
    /** To the last trace. */
    TEARDOWN;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException if it is none */
    static BootPhase parse(String word) {
        return Arrays.stream(values())
                .filter(phase -> phase.toString().equals(word))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "phase: want one of section 11, have " + HandoverChecks.other(word)));
    }
}
