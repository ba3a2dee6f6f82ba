package org.cloister.vm.controller.slurm;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Fuzzes the parsers of Slurm's output: each input is jobs, nodes and throttles, or is refused. The first byte chooses
 * the parser.
 */
class LocalSlurmFuzz {
    private static final int PARSERS = 4;

    @FuzzTest(maxDuration = "60s")
    void reads_jobs_nodes_and_throttles(byte[] input) {
        if (input.length == 0) {
            return;
        }
        String text = new String(Arrays.copyOfRange(input, 1, input.length), StandardCharsets.ISO_8859_1);
        try {
            switch (Math.floorMod(input[0], PARSERS)) {
                case 0 ->
                    SqueueOutput.read(text, ExclusiveColumn.OVERSUBSCRIBE, state -> {})
                            .forEach(row -> require(row.job().requirements().minNodes() >= 1
                                    && row.job().requirements().maxNodes()
                                            >= row.job().requirements().minNodes()));
                case 1 ->
                    SinfoOutput.read(text)
                            .forEach(node -> require(!node.name().startsWith(LocalSlurm.PLACEHOLDER_PREFIX)));
                case 2 -> ArrayThrottles.waiting(text).values().forEach(throttle -> require(throttle >= 0));
                default -> require(ArrayThrottles.shown(12, text) >= 0);
            }
        } catch (SlurmUnavailableException e) {
            require(e.getMessage() != null && e.getMessage().length() <= 400);
        }
    }

    private static void require(boolean holds) {
        if (!holds) {
            throw new IllegalStateException("read what is none");
        }
    }
}
