package org.cloister.vm.controller.queue;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.cloister.slurm.SlurmRefusedException;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmJob;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the queue's threads. */
class QueueControllerTest {
    @TempDir
    private Path folder;

    /** Tells of each look, and fails as it is told to. */
    private static final class WatchedSlurm implements LocalSlurm {
        final BlockingQueue<Long> snapshots = new LinkedBlockingQueue<>();
        volatile boolean bug;
        volatile boolean silent;

        @Override
        public List<LocalSlurmJob> jobs() throws SlurmUnavailableException {
            snapshots.add(System.nanoTime());
            if (bug) {
                throw new IllegalStateException("a bug");
            }
            if (silent) {
                throw new SlurmUnavailableException("no answer");
            }
            return List.of();
        }

        @Override
        public List<LocalSlurmNode> nodes() {
            return List.of();
        }

        @Override
        public void placeJob(LocalSlurmJobId job, String ticket, int nodes) throws SlurmRefusedException {
            throw new SlurmRefusedException("no such job");
        }

        @Override
        public void unplaceJob(LocalSlurmJobId job, JobRequirements requirements) throws SlurmRefusedException {
            throw new SlurmRefusedException("no such job");
        }

        @Override
        public void holdJob(LocalSlurmJobId job) throws SlurmRefusedException {
            throw new SlurmRefusedException("no such job");
        }

        @Override
        public void setAdminComment(LocalSlurmJobId job, String text) throws SlurmRefusedException {
            throw new SlurmRefusedException("no such job");
        }

        @Override
        public void saveState(LocalSlurmJob job) {}

        @Override
        public void drainNode(String node, String why) throws SlurmRefusedException {
            throw new SlurmRefusedException("no such node");
        }

        @Override
        public void markNodeDown(String node, String why) {}

        @Override
        public void deleteNode(String node) {}
    }

    private final WatchedSlurm slurm = new WatchedSlurm();
    private final CompletableFuture<RuntimeException> broken = new CompletableFuture<>();

    private QueueController controller(QueueJournal ledger) {
        FaultInjector none = new FaultInjector(new Random(1));
        return new QueueController(
                QueueSimulation.SETTINGS,
                slurm,
                new FakeWorkerAllocator(new SimulatedSlurm(none), none, new Random(1), QueueSimulation.QUOTA),
                ledger,
                new InMemoryJobStatusStore(),
                new NoQueueMetrics(),
                InstantSource.system(),
                folder.resolve("bell"),
                () -> true,
                broken::complete);
    }

    @Test
    void a_ring_of_the_bell_is_a_look_at_once_and_two_more() throws Exception {
        try (QueueJournal ledger = QueueJournal.open(folder.resolve("ledger"));
                QueueController controller = controller(ledger)) {
            controller.start();
            assertThat(slurm.snapshots.poll(10, SECONDS)).isNotNull();
            Files.writeString(folder.resolve("bell"), "x");
            for (int check = 0; check < 3; check++) {
                assertThat(slurm.snapshots.poll(10, SECONDS))
                        .as("look " + check)
                        .isNotNull();
            }
        }
    }

    @Test
    void a_slurm_that_does_not_answer_is_asked_again() throws Exception {
        slurm.silent = true;
        try (QueueJournal ledger = QueueJournal.open(folder.resolve("ledger"));
                QueueController controller = controller(ledger)) {
            controller.start();
            assertThat(slurm.snapshots.poll(10, SECONDS)).isNotNull();
            assertThat(slurm.snapshots.poll(10, SECONDS)).isNotNull();
            assertThat(broken).isNotDone();
        }
    }

    @Test
    void what_should_not_happen_is_told_and_nothing_is_done_any_more() throws Exception {
        slurm.bug = true;
        try (QueueJournal ledger = QueueJournal.open(folder.resolve("ledger"));
                QueueController controller = controller(ledger)) {
            controller.start();
            assertThat(broken.get(10, SECONDS)).hasMessageContaining("a bug");
        }
        assertThat(slurm.snapshots).hasSize(1);
    }
}
