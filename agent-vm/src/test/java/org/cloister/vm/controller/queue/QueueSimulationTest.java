package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.stream.LongStream;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The seed is the test's name: the same seed is the same walk. */
class QueueSimulationTest {
    private static final int STEPS = 1000;
    private static final int CALM_STEPS = 6000;

    @TempDir
    private Path folder;

    static LongStream seeds() {
        return LongStream.concat(
                LongStream.rangeClosed(1, Long.getLong("walks", 4)), LongStream.of(new Random().nextLong()));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void every_job_ends_once_and_nothing_is_left_whatever_happens(long seed) throws Exception {
        try (QueueSimulation walk = new QueueSimulation(seed, folder.resolve("ledger"))) {
            walk.faults.kills = 4;
            walk.faults.lostAnswers = 30;
            walk.workers.failures = 20;
            for (int i = 0; i < STEPS; i++) {
                if (walk.random.nextInt(8) == 0) {
                    walk.user();
                }
                if (walk.random.nextInt(50) == 0) {
                    walk.setClock(Duration.ofMinutes(walk.random.nextInt(-90, 90)));
                }
                walk.slurm.accounting = walk.random.nextInt(100) != 0;
                walk.storm();
                walk.step();
            }
            walk.faults.kills = 0;
            walk.faults.lostAnswers = 0;
            walk.workers.failures = 0;
            walk.slurm.misfits = false;
            walk.slurm.accounting = true;
            for (int i = 0; i < CALM_STEPS && !walk.isOver(); i++) {
                walk.slurm.records.values().forEach(job -> job.waitsFor = "");
                walk.step();
            }
            requireAllEnded(walk);
        }
    }

    private static void requireAllEnded(QueueSimulation walk) {
        assertThat(walk.restarts).as("kills").isPositive();
        assertThat(walk.workers.requested()).as("tickets").isPositive();
        assertThat(walk.slurm.records.values()).allSatisfy(job -> {
            assertThat(job.state).as("state of " + job.id).isEqualTo(LocalSlurmJobState.ENDED);
            assertThat(job.ends).as("ends of " + job.id).isEqualTo(1);
            if (job.hasRun) {
                assertThat(job.accounted).as("statement of " + job.id).contains(" attempt=");
            }
        });
        assertThat(walk.ledger.entries()).as("ledger").isEmpty();
        assertThat(walk.workers.inFlight()).as("tickets in flight").isZero();
        assertThat(walk.slurm.hasNodes()).as("nodes").isFalse();
        assertThat(walk.statuses.all).as("statuses").isEmpty();
    }
}
