package org.cloister.vm.controller.queue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.slurm.LocalSlurmJobState;

/** A project's queue at work in memory, in steps: users, Slurm, workers and the controller, which is killed and comes again. */
final class QueueSimulation implements AutoCloseable {
    static final int QUOTA = 5;
    static final QueueSettings SETTINGS = new QueueSettings(
            QUOTA, List.of(new HostShape(4, 4, 1000, 0)), List.of(), 3, Duration.ofSeconds(5), Duration.ofHours(1));

    final Random random;
    final FaultInjector faults;
    final SimulatedSlurm slurm;
    final FakeWorkerAllocator workers;
    final InMemoryJobStatusStore statuses = new InMemoryJobStatusStore();
    private final Path file;
    long nowMs = 1_000;
    /** The machine's clock, which anybody may set. */
    private long aheadMs = 1_700_000_000_000L;

    /** Whether workers reach slurmctld. */
    boolean slurmctldReachable = true;

    private int submitted;
    int restarts;
    QueueJournal ledger;
    private SchedulingPass pass;
    private AdminCommentWriter statements;
    private boolean alive;

    QueueSimulation(long seed, Path file) throws IOException {
        this.random = new Random(seed);
        this.faults = new FaultInjector(random);
        this.slurm = new SimulatedSlurm(faults);
        this.workers = new FakeWorkerAllocator(slurm, faults, random, QUOTA);
        this.file = file;
        this.ledger = QueueJournal.open(file);
        this.statements = new AdminCommentWriter(slurm);
        this.pass = runPass();
        this.alive = true;
        workers.start(pass::onWorkerEvent);
    }

    private SchedulingPass runPass() {
        return new SchedulingPass(
                new SchedulingPass.Environment(
                        SETTINGS,
                        slurm,
                        workers,
                        ledger,
                        statuses,
                        new NoQueueMetrics(),
                        () -> Instant.ofEpochMilli(nowMs + aheadMs),
                        () -> nowMs,
                        new Ids(),
                        () -> slurmctldReachable),
                statements,
                Runnable::run);
    }

    /** Ids by the walk's seed. */
    private final class Ids extends SecureRandom {
        private static final long serialVersionUID = 1;

        @Override
        public void nextBytes(byte[] bytes) {
            random.nextBytes(bytes);
        }
    }

    void step() throws IOException, InterruptedException {
        nowMs += 20 + random.nextInt(300);
        slurm.tick(nowMs);
        workers.tick();
        try {
            if (!alive && random.nextInt(3) == 0) {
                restart();
            }
            if (alive) {
                pass.run();
                statements.write(nowMs);
            }
        } catch (FaultInjector.SimulatedKill e) {
            die();
        } catch (SlurmUnavailableException e) {
            // As the real one: the next round looks again.
            assert alive;
        }
        requireOneOpenTicketEach();
    }

    void setClock(Duration ahead) {
        aheadMs += ahead.toMillis();
    }

    /** As if the project's drive had none. */
    void loseLedger() throws IOException {
        die();
        Files.delete(file);
        restart();
    }

    void die() {
        alive = false;
        workers.start(event -> {});
    }

    private void restart() throws IOException {
        restarts++;
        faults.revive();
        ledger.close();
        ledger = QueueJournal.open(file);
        statements = new AdminCommentWriter(slurm);
        pass = runPass();
        alive = true;
        workers.start(pass::onWorkerEvent);
        pass.resume();
    }

    private void requireOneOpenTicketEach() {
        Set<LocalSlurmJobId> open = new HashSet<>();
        for (JobTicket entry : ledger.entries()) {
            if (entry.isOpen() && !open.add(entry.job())) {
                throw new AssertionError("job " + entry.job() + " has two open tickets");
            }
        }
    }

    /** slurmctld writes down what it knows now and then, and is killed now and then. */
    void storm() {
        if (random.nextInt(10) == 0) {
            slurm.write();
        } else if (random.nextInt(60) == 0) {
            slurm.forget(random.nextBoolean());
        }
    }

    /** Something a user does. */
    void user() {
        List<FakeSlurmJob> all = slurm.records.values().stream()
                .filter(job -> job.state != LocalSlurmJobState.ENDED)
                .toList();
        int what = random.nextInt(12);
        if (all.isEmpty() || what < 3) {
            submit();
            return;
        }
        FakeSlurmJob job = all.get(random.nextInt(all.size()));
        List<FakeSlurmJob> jobsOfSet = job.set == 0
                ? List.of(job)
                : all.stream().filter(each -> each.set == job.set).toList();
        switch (what) {
            case 3 -> jobsOfSet.forEach(slurm::cancel);
            case 4 -> jobsOfSet.forEach(slurm::requeue);
            case 5, 6 ->
                jobsOfSet.stream()
                        .filter(each -> each.state == LocalSlurmJobState.PENDING)
                        .forEach(each -> each.waitsFor = "JobHeldUser");
            case 7, 8 -> jobsOfSet.forEach(each -> each.waitsFor = "");
            case 9 -> jobsOfSet.forEach(each -> each.waitsFor = each.waitsFor.isEmpty() ? "Dependency" : each.waitsFor);
            case 10 -> job.requirements = SimulatedSlurm.demand(1 + random.nextInt(3));
            default -> slurm.misfits = random.nextInt(4) == 0;
        }
    }

    private void submit() {
        int number = ++submitted;
        int kind = random.nextInt(4);
        if (kind == 0) {
            for (int task = 0; task < 3; task++) {
                FakeSlurmJob job = slurm.submit(number + "_" + task, 1);
                job.array = number;
                job.throttle = 2;
            }
        } else if (kind == 1) {
            for (int component = 0; component < 2; component++) {
                slurm.submit(number + "+" + component, 1 + component).set = number;
            }
        } else {
            slurm.submit(String.valueOf(number), 1 + random.nextInt(3)).runsMs = random.nextInt(8000);
        }
    }

    boolean isOver() {
        return alive
                && slurm.records.values().stream().allMatch(job -> job.state == LocalSlurmJobState.ENDED)
                && workers.inFlight() == 0
                && !slurm.hasNodes()
                && ledger.entries().isEmpty()
                && statuses.all.isEmpty();
    }

    @Override
    public void close() throws IOException {
        ledger.close();
    }
}
