package org.cloister.vm.queue;

import java.util.Random;
import org.cloister.slurm.SlurmUnavailable;

/** What may go wrong around a call: our process is killed before or after it, or its answer is lost. */
final class Mischief {
    private final Random random;
    /** In thousandths of all calls. */
    int kills;

    int lostAnswers;
    private boolean dead;

    /** Our process is no more. */
    static final class Killed extends Error {
        private static final long serialVersionUID = 1;
    }

    Mischief(Random random) {
        this.random = random;
    }

    void revive() {
        dead = false;
    }

    /** Around a call that cannot lose its answer. */
    void kill() {
        if (dead || random.nextInt(1000) < kills) {
            dead = true;
            throw new Killed();
        }
    }

    void lose() throws SlurmUnavailable {
        kill();
        if (random.nextInt(1000) < lostAnswers) {
            throw new SlurmUnavailable("no answer");
        }
    }
}
