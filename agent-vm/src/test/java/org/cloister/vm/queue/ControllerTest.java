package org.cloister.vm.queue;

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
import org.cloister.slurm.SlurmRefused;
import org.cloister.slurm.SlurmUnavailable;
import org.cloister.vm.slurm.Demand;
import org.cloister.vm.slurm.Job;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.Node;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Its threads. */
class ControllerTest {
    @TempDir
    private Path folder;

    /** Tells of each look, and fails as it is told to. */
    private static final class Watched implements LocalSlurm {
        final BlockingQueue<Long> looks = new LinkedBlockingQueue<>();
        volatile boolean bug;
        volatile boolean silent;

        @Override
        public List<Job> jobs() throws SlurmUnavailable {
            looks.add(System.nanoTime());
            if (bug) {
                throw new IllegalStateException("a bug");
            }
            if (silent) {
                throw new SlurmUnavailable("no answer");
            }
            return List.of();
        }

        @Override
        public List<Node> nodes() {
            return List.of();
        }

        @Override
        public void place(JobId job, String ticket, int nodes) throws SlurmRefused {
            throw new SlurmRefused("no such job");
        }

        @Override
        public void unplace(JobId job, Demand demand) throws SlurmRefused {
            throw new SlurmRefused("no such job");
        }

        @Override
        public void hold(JobId job) throws SlurmRefused {
            throw new SlurmRefused("no such job");
        }

        @Override
        public void comment(JobId job, String text) throws SlurmRefused {
            throw new SlurmRefused("no such job");
        }

        @Override
        public void save(Job job) {}

        @Override
        public void drain(String node, String why) throws SlurmRefused {
            throw new SlurmRefused("no such node");
        }

        @Override
        public void down(String node, String why) {}

        @Override
        public void remove(String node) {}
    }

    private final Watched slurm = new Watched();
    private final CompletableFuture<RuntimeException> broken = new CompletableFuture<>();

    private Controller controller(Ledger ledger) {
        Mischief none = new Mischief(new Random(1));
        return new Controller(
                Walk.SETTINGS,
                slurm,
                new FakeWorkers(new FakeSlurm(none), none, new Random(1), Walk.QUOTA),
                ledger,
                new KnownStatuses(),
                new NoTimings(),
                InstantSource.system(),
                folder.resolve("bell"),
                () -> true,
                broken::complete);
    }

    @Test
    void a_ring_of_the_bell_is_a_look_at_once_and_two_more() throws Exception {
        try (Ledger ledger = Ledger.open(folder.resolve("ledger"));
                Controller controller = controller(ledger)) {
            controller.start();
            assertThat(slurm.looks.poll(10, SECONDS)).isNotNull();
            Files.writeString(folder.resolve("bell"), "x");
            for (int look = 0; look < 3; look++) {
                assertThat(slurm.looks.poll(10, SECONDS)).as("look " + look).isNotNull();
            }
        }
    }

    @Test
    void a_slurm_that_does_not_answer_is_asked_again() throws Exception {
        slurm.silent = true;
        try (Ledger ledger = Ledger.open(folder.resolve("ledger"));
                Controller controller = controller(ledger)) {
            controller.start();
            assertThat(slurm.looks.poll(10, SECONDS)).isNotNull();
            assertThat(slurm.looks.poll(10, SECONDS)).isNotNull();
            assertThat(broken).isNotDone();
        }
    }

    @Test
    void what_should_not_happen_is_told_and_nothing_is_done_any_more() throws Exception {
        slurm.bug = true;
        try (Ledger ledger = Ledger.open(folder.resolve("ledger"));
                Controller controller = controller(ledger)) {
            controller.start();
            assertThat(broken.get(10, SECONDS)).hasMessageContaining("a bug");
        }
        assertThat(slurm.looks).hasSize(1);
    }
}
