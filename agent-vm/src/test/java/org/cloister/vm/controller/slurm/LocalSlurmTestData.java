package org.cloister.vm.controller.slurm;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** Tickets and demands that tests make up. */
public class LocalSlurmTestData {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

    protected static JobRequirements demand(int leastNodes, int mostNodes, int tasks, long memoryMib) {
        return new JobRequirements(
                leastNodes,
                mostNodes,
                tasks,
                1,
                OptionalInt.empty(),
                memoryMib,
                // One CPU of a node: squeue does not say which of the two.
                tasks == leastNodes,
                0,
                false,
                Optional.of(Duration.ofMinutes(10)));
    }

    protected static String ticket() {
        StringBuilder id = new StringBuilder();
        for (int i = 0; i < 26; i++) {
            id.append(LETTERS.charAt(RANDOM.nextInt(LETTERS.length())));
        }
        return id.toString();
    }
}
