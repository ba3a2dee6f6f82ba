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

    private final BootJournal journal;
    private final NodeSetup setup;

    public OrphanedWorker(BootJournal journal, NodeSetup setup) {
        this.journal = journal;
        this.setup = setup;
    }

    public void cleanUp() {
        List<SetupStep> started = steps(journal);
        for (int i = started.size() - 1; i >= 0; i--) {
            try {
                setup.undo(started.get(i), true);
            } catch (IOException | RuntimeException e) {
                LOG.error("{}: cannot be undone: {}", started.get(i), e.toString());
            }
        }
    }

    private static List<SetupStep> steps(BootJournal journal) {
        return journal.isUnreadable()
                ? List.of(SetupStep.values())
                : journal.steps().stream()
                        .map(SetupStep::parse)
                        .flatMap(Optional::stream)
                        .toList();
    }
}
