package org.cloister.vm.controller.queue;

import java.util.Random;
import org.cloister.slurm.SlurmUnavailableException;

/** Faults around a call: the process is killed before or after it, or its answer is lost. */
final class FaultInjector {
    private final Random random;
    /** In thousandths of all calls. */
    int kills;

    int lostAnswers;
    private boolean dead;

    /** Our process is no more. */
    static final class SimulatedKill extends Error {
        private static final long serialVersionUID = 1;
    }

    FaultInjector(Random random) {
        this.random = random;
    }

    void revive() {
        dead = false;
    }

    /** Around a call that cannot lose its answer. */
    void kill() {
        if (dead || random.nextInt(1000) < kills) {
            dead = true;
            throw new SimulatedKill();
        }
    }

    void lose() throws SlurmUnavailableException {
        kill();
        if (random.nextInt(1000) < lostAnswers) {
            throw new SlurmUnavailableException("no answer");
        }
    }
}
