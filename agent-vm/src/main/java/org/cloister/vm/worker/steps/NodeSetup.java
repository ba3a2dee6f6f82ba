package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** What a worker does with its machine. Calls block, and come one after the other. */
public interface NodeSetup {
    /** @throws IOException if it could not be done; what was done of it is taken back by {@link #undo} */
    void apply(SetupStep step, AcceptedHandover given) throws IOException;

    /**
     * What was given anew takes the place of what there is, as far as steps were done: tunnels, then munge;
     * after that slurmd makes itself known.
     *
     * @param opened whether the controlling VM was opened anew, and has another munge key
     * @throws IOException if it could not be done
     */
    void applyReadmission(AcceptedHandover given, boolean opened) throws IOException;

    /**
     * As far as it can be; may be called for a step that was not done, and by an agent that did not do it.
     *
     * @param failed whether somebody will want to know what happened
     * @throws IOException with what is left
     */
    void undo(SetupStep step, boolean failed) throws IOException;

    /** When the scratch volume's key was destroyed. */
    Optional<Instant> scratchErasedAt();

    /** The VM goes off. */
    void powerOff();
}
