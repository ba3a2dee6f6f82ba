package org.cloister.vm.controller.queue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Performs actions in Slurm, some concurrently, and waits for all, so that the next poll sees their results. */
final class SlurmActionRunner {
    private static final Logger LOG = LoggerFactory.getLogger(SlurmActionRunner.class);

    private final LocalSlurm slurm;
    private final Executor calls;

    SlurmActionRunner(LocalSlurm slurm, Executor calls) {
        this.slurm = slurm;
        this.calls = calls;
    }

    /**
     * Performs the actions and waits for all of them.
     *
     * @return the actions that Slurm confirmed; the result of the others is unknown before the next poll
     * @throws RuntimeException thrown by a call: a defect
     */
    Set<SlurmAction> run(Collection<SlurmAction> actions) throws InterruptedException {
        Map<SlurmAction, FutureTask<Boolean>> tasks = new LinkedHashMap<>();
        for (SlurmAction action : new LinkedHashSet<>(actions)) {
            tasks.put(action, new FutureTask<>(() -> tryAction(action)));
        }
        List<FutureTask<Boolean>> all = new ArrayList<>(tasks.values());
        all.forEach(calls::execute);
        Set<SlurmAction> done = new LinkedHashSet<>();
        for (Map.Entry<SlurmAction, FutureTask<Boolean>> each : tasks.entrySet()) {
            try {
                if (each.getValue().get()) {
                    done.add(each.getKey());
                }
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw new IllegalStateException("action " + each.getKey() + " failed: " + e.getCause(), e.getCause());
            }
        }
        return done;
    }

    private boolean tryAction(SlurmAction action) {
        try {
            call(action);
            return true;
        } catch (SlurmRefusedException e) {
            LOG.info("Slurm refused {}: {}", action, e.getMessage());
        } catch (SlurmUnavailableException e) {
            LOG.warn("Slurm gave no answer to {}: {}", action, e.getMessage());
        }
        return false;
    }

    private void call(SlurmAction action) throws SlurmUnavailableException, SlurmRefusedException {
        if (action instanceof SlurmAction.AssignJob place) {
            slurm.placeJob(place.job(), place.ticket(), place.nodes());
        } else if (action instanceof SlurmAction.UnassignJob unplace) {
            slurm.unplaceJob(unplace.job(), unplace.requirements());
        } else if (action instanceof SlurmAction.HoldJob hold) {
            slurm.holdJob(hold.job());
        } else if (action instanceof SlurmAction.SaveState save) {
            slurm.saveState(save.job());
        } else if (action instanceof SlurmAction.DrainNode drain) {
            slurm.drainNode(drain.node(), drain.why());
        } else if (action instanceof SlurmAction.MarkNodeDown down) {
            slurm.markNodeDown(down.node(), down.why());
        } else if (action instanceof SlurmAction.DeleteNode remove) {
            slurm.deleteNode(remove.node());
        }
    }
}
