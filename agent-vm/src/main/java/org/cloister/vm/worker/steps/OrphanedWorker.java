package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.cloister.vm.boot.BootJournal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cleans up a worker whose agent was killed after it had requested evidence from its host: the keys are lost with that
 * process, and two processes share none. Undoes the steps that were started, before the VM ends.
 */
public final class OrphanedWorker {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanedWorker.class);

    private final BootJournal begun;
    private final NodeSetup steps;

    public OrphanedWorker(BootJournal begun, NodeSetup steps) {
        this.begun = begun;
        this.steps = steps;
    }

    public void cleanUp() {
        List<SetupStep> all = steps(begun);
        for (int i = all.size() - 1; i >= 0; i--) {
            try {
                steps.undo(all.get(i), true);
            } catch (IOException | RuntimeException e) {
                LOG.error("{}: not undone: {}", all.get(i), e.toString());
            }
        }
    }

    private static List<SetupStep> steps(BootJournal begun) {
        return begun.isUnreadable()
                ? List.of(SetupStep.values())
                : begun.steps().stream()
                        .map(SetupStep::parse)
                        .flatMap(Optional::stream)
                        .toList();
    }
}
