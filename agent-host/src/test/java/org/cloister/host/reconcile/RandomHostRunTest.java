package org.cloister.host.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Random lives of a host. A walk that fails names its seed; put that into {@link #walk_of_a_seed} to see it again. */
class RandomHostRunTest {
    private static final int WALKS = 150;
    private static final int STEPS = 60;

    @TempDir(factory = InMemoryFolder.class)
    private Path folder;

    @Test
    void whatever_happens_the_ended_is_gone_the_right_goes_on_and_the_foreign_stays() throws Exception {
        long base = new Random().nextLong();
        long kills = 0;
        long wholeVms = 0;
        for (int i = 0; i < WALKS; i++) {
            RandomHostRun walk = walk(base + i);
            kills += walk.kills();
            wholeVms += walk.survivors();
        }
        // Walks that never kill or never leave anything running would show nothing.
        assertThat(kills).isGreaterThan(WALKS);
        assertThat(wholeVms).isGreaterThan(WALKS / 2);
    }

    @Test
    void walk_of_a_seed() throws Exception {
        walk(1);
    }

    private RandomHostRun walk(long seed) throws Exception {
        RandomHostRun walk = new RandomHostRun(new Random(seed), folder.resolve("ledger" + seed));
        try {
            for (int step = 0; step < STEPS; step++) {
                walk.step();
            }
            walk.settle();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage() + "\n" + walk, e);
        }
        return walk;
    }
}
