package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** Applies and undoes the setup steps on a worker's machine. Calls block, and are made one after the other. */
public interface NodeSetup {
    /**
     * Applies a step.
     *
     * @throws IOException if it failed; {@link #undo} reverts what was done of it
     */
    void apply(SetupStep step, AcceptedHandover handover) throws IOException;

    /**
     * Replaces the present credentials with those of a readmission, as far as steps were applied: munge, then tunnels;
     * after that slurmd registers again. May be called again with the same munge key, if the controlling VM did not
     * learn that it was applied.
     *
     * @param reopened whether the controlling VM was reopened, and has another munge key
     * @throws IOException if it failed; the worker then ends
     */
    void applyReadmission(AcceptedHandover handover, boolean reopened) throws IOException;

    /**
     * Undoes a step as far as possible. May be called for a step that was not applied, and by an agent that did not
     * apply it.
     *
     * @param failed whether the worker failed, so that its logs are of interest
     * @throws IOException with what is left
     */
    void undo(SetupStep step, boolean failed) throws IOException;

    /** Returns when the scratch volume's key was destroyed. */
    Optional<Instant> scratchErasedAt();

    /** Powers the VM off. */
    void powerOff();
}
