package org.cloister.vm.worker.steps;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;

/** Steps that turn a worker with a hand-over into a node, in this order; they are undone in reverse order. */
public enum SetupStep {
    /** Verifies that the machine's memory is not written to a disk in clear. */
    MEMORY(BootPhase.TUNNEL),
    CLOCK(BootPhase.TUNNEL),
    /** Installs the guard, then sets the address. */
    NETWORK(BootPhase.TUNNEL),
    /** Starts charon, and the tunnel to the controlling VM. */
    TUNNEL(BootPhase.TUNNEL),
    /** Follows the controlling VM's time from now on. */
    TIME(BootPhase.REGISTRATION),
    SCRATCH(BootPhase.REGISTRATION),
    /** Writes the machine's own name, and those of the job's nodes. */
    NAMES(BootPhase.REGISTRATION),
    /**
     * Mounts the storage under the machine's own name: the server takes two clients of one name for one, and each of
     * them closes what the other has open.
     */
    STORAGE(BootPhase.REGISTRATION),
    USERS(BootPhase.REGISTRATION),
    MUNGE(BootPhase.REGISTRATION),
    SLURMD(BootPhase.REGISTRATION);

    private final BootPhase phase;

    SetupStep(BootPhase phase) {
        this.phase = phase;
    }

    /** Returns the boot phase to which the step belongs. */
    public BootPhase phase() {
        return phase;
    }

    /** Returns the code that the controlling VM receives if the step fails. */
    public String code() {
        return this == MEMORY ? "clear-swap" : "no-" + this;
    }

    /** Returns the next step; empty after the last one. */
    public Optional<SetupStep> next() {
        return Arrays.stream(values()).filter(step -> step.compareTo(this) > 0).findFirst();
    }

    /**
     * Returns whether the step is undone only after the worker's final report. The circuit does not need such a step.
     */
    public boolean isOutlived() {
        return phase == BootPhase.TUNNEL;
    }

    static Optional<SetupStep> parse(String word) {
        return Arrays.stream(values())
                .filter(step -> step.toString().equals(word))
                .findFirst();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
