package org.cloister.lab.scenario;

import java.util.concurrent.ThreadLocalRandom;

/** The seed of a drawn sample: printed, so that {@code CLOISTER_SEED} repeats it. */
final class ScenarioSeed {
    private ScenarioSeed() {}

    static long of(String what) {
        String given = System.getProperty("cloister.seed", "");
        long seed = given.isEmpty() ? ThreadLocalRandom.current().nextLong() : Long.parseLong(given);
        System.out.println(what + ": CLOISTER_SEED=" + seed);
        return seed;
    }
}
