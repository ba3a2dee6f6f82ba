package org.cloister.vm.queue;

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
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;
import org.cloister.vm.slurm.LocalSlurm;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Has Slurm do what was decided, some at a time, and waits for all: the next look sees what came of them. */
final class Steps {
    private static final Logger LOG = LoggerFactory.getLogger(Steps.class);

    private final LocalSlurm slurm;
    private final Executor calls;

    Steps(LocalSlurm slurm, Executor calls) {
        this.slurm = slurm;
        this.calls = calls;
    }

    /**
     * @return those that Slurm said are done; of others, nothing is known before the next look
     * @throws RuntimeException that a call threw: a bug
     */
    Set<Step> run(Collection<Step> steps) throws InterruptedException {
        Map<Step, FutureTask<Boolean>> tasks = new LinkedHashMap<>();
        for (Step step : new LinkedHashSet<>(steps)) {
            tasks.put(step, new FutureTask<>(() -> tried(step)));
        }
        List<FutureTask<Boolean>> all = new ArrayList<>(tasks.values());
        all.forEach(calls::execute);
        Set<Step> done = new LinkedHashSet<>();
        for (Map.Entry<Step, FutureTask<Boolean>> each : tasks.entrySet()) {
            try {
                if (each.getValue().get()) {
                    done.add(each.getKey());
                }
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw new IllegalStateException("step " + each.getKey() + " failed: " + e.getCause(), e.getCause());
            }
        }
        return done;
    }

    private boolean tried(Step step) {
        try {
            call(step);
            return true;
        } catch (SlurmRefused e) {
            LOG.info("Slurm refused {}: {}", step, e.getMessage());
        } catch (SlurmUnavailable e) {
            LOG.warn("Slurm gave no answer to {}: {}", step, e.getMessage());
        }
        return false;
    }

    private void call(Step step) throws SlurmUnavailable, SlurmRefused {
        if (step instanceof Step.Place place) {
            slurm.place(place.job(), place.ticket(), place.nodes());
        } else if (step instanceof Step.Unplace unplace) {
            slurm.unplace(unplace.job(), unplace.demand());
        } else if (step instanceof Step.Hold hold) {
            slurm.hold(hold.job());
        } else if (step instanceof Step.Save save) {
            slurm.save(save.job());
        } else if (step instanceof Step.Drain drain) {
            slurm.drain(drain.node(), drain.why());
        } else if (step instanceof Step.Down down) {
            slurm.down(down.node(), down.why());
        } else if (step instanceof Step.Remove remove) {
            slurm.remove(remove.node());
        }
    }
}
