package org.cloister.vm.joining;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.cloister.vm.boot.Begun;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is left of a worker whose agent was killed after it had asked its host to vouch for its keys: they are gone with it, and
 * two starts share none. So what was begun is undone before the VM ends.
 */
final class Orphan {
    private static final Logger LOG = LoggerFactory.getLogger(Orphan.class);

    private final Begun begun;
    private final Steps steps;

    Orphan(Begun begun, Steps steps) {
        this.begun = begun;
        this.steps = steps;
    }

    void end() {
        List<Step> all = steps(begun);
        for (int i = all.size() - 1; i >= 0; i--) {
            try {
                steps.undo(all.get(i), true);
            } catch (IOException | RuntimeException e) {
                LOG.error("{}: not undone: {}", all.get(i), e.toString());
            }
        }
    }

    private static List<Step> steps(Begun begun) {
        return begun.isUnknown()
                ? List.of(Step.values())
                : begun.steps().stream()
                        .map(Step::parse)
                        .flatMap(Optional::stream)
                        .toList();
    }
}
