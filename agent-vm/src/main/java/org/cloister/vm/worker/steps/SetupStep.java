package org.cloister.vm.worker.steps;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import org.cloister.protocol.handover.BootPhase;

/** What makes a node of a worker that was handed over to, in this order; undone in the other. */
public enum SetupStep {
    /** None of this machine's goes to a disk in clear. */
    MEMORY(BootPhase.TUNNEL),
    CLOCK(BootPhase.TUNNEL),
    /** The guard, and behind it the address. */
    NETWORK(BootPhase.TUNNEL),
    /** charon, and the way to the controlling VM. */
    TUNNEL(BootPhase.TUNNEL),
    /** The controlling VM's, from now on. */
    TIME(BootPhase.REGISTRATION),
    SCRATCH(BootPhase.REGISTRATION),
    /** The machine's own, and the job's nodes. */
    NAMES(BootPhase.REGISTRATION),
    /** By its own name: the server takes two clients of one name for one, and each of them ends what the other has open. */
    STORAGE(BootPhase.REGISTRATION),
    USERS(BootPhase.REGISTRATION),
    MUNGE(BootPhase.REGISTRATION),
    SLURMD(BootPhase.REGISTRATION);

    private final BootPhase phase;

    SetupStep(BootPhase phase) {
        this.phase = phase;
    }

    /** To which it belongs. */
    public BootPhase phase() {
        return phase;
    }

    /** What the controlling VM hears if it fails. */
    public String code() {
        return this == MEMORY ? "clear-swap" : "no-" + this;
    }

    /** Empty after the last one. */
    public Optional<SetupStep> next() {
        return Arrays.stream(values()).filter(step -> step.compareTo(this) > 0).findFirst();
    }

    /** Whether the circuit does not need it, and the worker's last words come before it is undone. */
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
