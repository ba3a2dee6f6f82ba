package org.cloister.lab.scenario;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.NamespaceWorkers;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.slurm.SlurmCommand;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurm;
import org.cloister.vm.controller.slurm.LocalSlurmCommands;
import org.cloister.vm.controller.slurm.LocalSlurmContract;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The real Slurm, through its own commands, keeps what the controller needs of it. */
@Tag("scenario")
@Tag("slurm")
@Timeout(120)
@RotatedScenario(7)
@ExtendWith(SharedLocalSlurm.class)
class LocalSlurmTest extends LocalSlurmContract {
    private final SlurmPairFixture stage;
    private final LabCluster cluster;
    private final ClusterLogin alice;
    private final LocalSlurmCommands slurm;
    private final List<String> tickets = new ArrayList<>();
    private final NamespaceWorkers workers;

    LocalSlurmTest(SlurmPairFixture stage) throws IOException {
        this.stage = stage;
        this.cluster = stage.local();
        this.alice = cluster.as(ClusterUser.ALICE);
        this.slurm = new LocalSlurmCommands(
                new SlurmCommand(Optional.of(cluster.programs()), Optional.empty(), Duration.ofSeconds(15)));
        this.workers = stage.workers().openWorkers();
        workers.start(event -> {});
    }

    @Override
    protected LocalSlurm slurm() {
        return slurm;
    }

    @Override
    protected LocalSlurmJobId submit(JobRequirements requirements, String... options) throws IOException {
        List<String> argv = new ArrayList<>(List.of("sbatch", "--parsable", "--output=/dev/null"));
        argv.addAll(options(requirements));
        argv.addAll(List.of(options));
        argv.add("--wrap=exec sleep 600");
        return new LocalSlurmJobId(alice.succeed(argv.toArray(String[]::new)).strip());
    }

    @Override
    protected List<LocalSlurmJobId> submitSet(JobRequirements... jobs) throws IOException {
        List<String> argv = new ArrayList<>(List.of("sbatch", "--parsable", "--output=/dev/null"));
        List<LocalSlurmJobId> ids = new ArrayList<>();
        for (JobRequirements requirements : jobs) {
            argv.addAll(ids.isEmpty() ? List.of() : List.of(":"));
            argv.addAll(options(requirements));
            ids.add(new LocalSlurmJobId("1"));
        }
        argv.add("--wrap=exec sleep 600");
        String first = alice.succeed(argv.toArray(String[]::new)).strip();
        ids.clear();
        for (int component = 0; component < jobs.length; component++) {
            ids.add(new LocalSlurmJobId(first + "+" + component));
        }
        return ids;
    }

    private static List<String> options(JobRequirements requirements) {
        List<String> argv = new ArrayList<>(List.of(
                "--nodes=" + requirements.minNodes() + "-" + requirements.maxNodes(),
                "--cpus-per-task=" + requirements.cpusPerTask(),
                "--tmp=" + requirements.scratchMib(),
                (requirements.memoryPerCpu() ? "--mem-per-cpu=" : "--mem=") + requirements.memoryMib()));
        if (requirements.minNodes() == requirements.maxNodes()) {
            argv.add("--ntasks=" + requirements.tasks());
        }
        requirements.tasksPerNode().ifPresent(tasks -> argv.add("--ntasks-per-node=" + tasks));
        requirements.timeLimit().ifPresent(limit -> argv.add("--time=" + limit.toMinutes()));
        if (requirements.exclusive()) {
            argv.add("--exclusive");
        }
        return argv;
    }

    @Override
    protected void startNodes(String ticket, int nodes, int cpus, int memoryMib) {
        tickets.add(ticket);
        workers.submitTicket(
                ticket,
                new ResourceRequest(
                        nodes, OptionalInt.empty(), cpus, OptionalInt.of(1), memoryMib, 0, false, 600, List.of()));
    }

    @Override
    protected void stopNodes() throws IOException {
        tickets.forEach(workers::releaseTicket);
        cluster.await(
                "no worker and no ticket",
                Duration.ofSeconds(30),
                () -> stage.workers().nodes().isEmpty()
                        && stage.workers().tickets().isEmpty());
        workers.close();
    }

    @Override
    protected void pass(Duration time) throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    @Override
    protected void release(LocalSlurmJobId job) throws IOException {
        alice.succeed("scontrol", "release", job.text());
    }

    @Override
    protected void cancel(LocalSlurmJobId job) throws IOException {
        alice.succeed("scancel", job.text());
    }

    @Override
    protected void requeue(LocalSlurmJobId job) throws IOException {
        alice.succeed("scontrol", "requeue", job.text());
    }

    @Override
    protected String accounted(LocalSlurmJobId job) throws IOException {
        return cluster.root()
                .succeed("sacct", "-X", "-n", "-P", "-j", job.text(), "-o", "AdminComment")
                .strip();
    }
}
