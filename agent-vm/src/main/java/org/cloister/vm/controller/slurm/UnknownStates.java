package org.cloister.vm.controller.slurm;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs each job state that this release of agent-vm does not know, once and of a few. Used by one thread. */
final class UnknownStates implements Consumer<String> {
    private static final int MAX_LOGGED = 16;
    private static final Logger LOG = LoggerFactory.getLogger(UnknownStates.class);

    private final Set<String> logged = new HashSet<>();

    /** @param state printable */
    @Override
    public void accept(String state) {
        if (logged.size() < MAX_LOGGED && logged.add(state)) {
            LOG.warn("unknown job state state={}: such jobs are taken as neither pending nor running", state);
        }
    }
}
