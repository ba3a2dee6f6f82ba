package org.cloister.lab.scenario;

import java.util.concurrent.ThreadLocalRandom;

/** The seed of a drawn sample: printed, so that {@code CLOISTER_SEED} repeats it. */
final class ScenarioSeed {
    private ScenarioSeed() {}

    static long of(String what) {
        String property = System.getProperty("cloister.seed", "");
        long seed = property.isEmpty() ? ThreadLocalRandom.current().nextLong() : Long.parseLong(property);
        System.out.println(what + ": CLOISTER_SEED=" + seed);
        return seed;
    }
}
