package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.local.Cluster;
import org.cloister.lab.local.LocalStage;
import org.cloister.lab.local.Login;
import org.cloister.lab.local.NamespaceWorkers;
import org.cloister.lab.local.User;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.slurm.SlurmProgram;
import org.cloister.vm.slurm.Demand;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.slurm.LocalSlurm;
import org.cloister.vm.slurm.LocalSlurmCommands;
import org.cloister.vm.slurm.LocalSlurmContract;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The real Slurm, through its own commands, keeps what the controller needs of it. */
@Tag("scenario")
@Tag("slurm")
@Timeout(120)
@InTurn(7)
@ExtendWith(SharedStage.class)
class LocalSlurmTest extends LocalSlurmContract {
    private final LocalStage stage;
    private final Cluster cluster;
    private final Login alice;
    private final LocalSlurmCommands slurm;
    private final List<String> tickets = new ArrayList<>();
    private final Map<String, String> addresses = new HashMap<>();
    private final NamespaceWorkers workers;

    LocalSlurmTest(LocalStage stage) throws IOException {
        this.stage = stage;
        this.cluster = stage.local();
        this.alice = cluster.as(User.ALICE);
        this.slurm = new LocalSlurmCommands(
                new SlurmProgram(Optional.of(cluster.programs()), Optional.empty(), Duration.ofSeconds(15)),
                addresses::putAll);
        this.workers = stage.workers().ask();
        workers.start(event -> {});
    }

    @Override
    protected LocalSlurm slurm() {
        return slurm;
    }

    @Override
    protected JobId submit(Demand demand, String... options) throws IOException {
        List<String> argv = new ArrayList<>(List.of("sbatch", "--parsable", "--output=/dev/null"));
        argv.addAll(asked(demand));
        argv.addAll(List.of(options));
        argv.add("--wrap=exec sleep 600");
        return new JobId(alice.succeed(argv.toArray(String[]::new)).strip());
    }

    @Override
    protected List<JobId> submitSet(Demand... demands) throws IOException {
        List<String> argv = new ArrayList<>(List.of("sbatch", "--parsable", "--output=/dev/null"));
        List<JobId> ids = new ArrayList<>();
        for (Demand demand : demands) {
            argv.addAll(ids.isEmpty() ? List.of() : List.of(":"));
            argv.addAll(asked(demand));
            ids.add(new JobId("1"));
        }
        argv.add("--wrap=exec sleep 600");
        String first = alice.succeed(argv.toArray(String[]::new)).strip();
        ids.clear();
        for (int component = 0; component < demands.length; component++) {
            ids.add(new JobId(first + "+" + component));
        }
        return ids;
    }

    private static List<String> asked(Demand demand) {
        List<String> argv = new ArrayList<>(List.of(
                "--nodes=" + demand.leastNodes() + "-" + demand.mostNodes(),
                "--cpus-per-task=" + demand.cpusPerTask(),
                "--tmp=" + demand.scratchMib(),
                (demand.memoryOfCpu() ? "--mem-per-cpu=" : "--mem=") + demand.memoryMib()));
        if (demand.leastNodes() == demand.mostNodes()) {
            argv.add("--ntasks=" + demand.tasks());
        }
        demand.tasksPerNode().ifPresent(tasks -> argv.add("--ntasks-per-node=" + tasks));
        demand.limit().ifPresent(limit -> argv.add("--time=" + limit.toMinutes()));
        if (demand.exclusive()) {
            argv.add("--exclusive");
        }
        return argv;
    }

    @Override
    protected void bring(String ticket, int nodes, int cpus, int memoryMib) {
        tickets.add(ticket);
        workers.ask(
                ticket,
                new ResourceRequest(
                        nodes, OptionalInt.empty(), cpus, OptionalInt.of(1), memoryMib, 0, false, 600, List.of()));
    }

    @Override
    protected void endNodes() throws IOException {
        tickets.forEach(workers::release);
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
    protected void release(JobId job) throws IOException {
        alice.succeed("scontrol", "release", job.text());
    }

    @Override
    protected void cancel(JobId job) throws IOException {
        alice.succeed("scancel", job.text());
    }

    @Override
    protected void requeue(JobId job) throws IOException {
        alice.succeed("scontrol", "requeue", job.text());
    }

    @Override
    protected String accounted(JobId job) throws IOException {
        return cluster.root()
                .succeed("sacct", "-X", "-n", "-P", "-j", job.text(), "-o", "AdminComment")
                .strip();
    }

    @Test
    void a_job_reads_the_addresses_of_its_nodes_from_a_configuration_of_its_own() throws IOException {
        String ticket = ticket();
        bring(ticket, 1, 1, 500);
        cluster.await("an idle node", Duration.ofSeconds(30), () -> cluster.nodes("idle") == 1);
        String node = slurm.nodes().get(0).name();
        JobId job = new JobId(Long.toString(alice.submit(
                "sleep 600 & cat $SLURM_CONF; srun sh -c 'echo step $SLURM_CONF'; echo done; wait",
                "--output=conf.out",
                "--mem=100")));
        slurm.place(job, ticket, 1);
        cluster.await(
                "the job's words",
                Duration.ofSeconds(30),
                () -> alice.run("cat", "conf.out").out().contains("done"));
        assertThat(alice.succeed("cat", "conf.out"))
                .contains("NodeName=" + node + " NodeAddr=" + addresses.get(node))
                .contains("step /run/cloister/slurm.conf");
    }
}
