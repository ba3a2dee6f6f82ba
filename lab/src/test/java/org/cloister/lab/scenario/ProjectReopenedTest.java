package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.MarkerSearch;
import org.cloister.lab.site.WorkingSite;
import org.cloister.lab.wire.Wiretap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A controlling VM that is lost under its project's jobs, and opened again by another owner. */
@Tag("scenario")
@Tag("vm")
@Timeout(2400)
@RotatedScenario(0)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class ProjectReopenedTest {
    /** Goes on until a file is there, which it can see when its storage is back. */
    private static final String SCRIPT = """
            #!/bin/bash
            #SBATCH --output=%j.txt
            # @
            echo begun
            until [ -e go ]; do sleep 1; done
            srun bash -c 'echo "step on $(hostname)"'
            echo over
            """.replace("@", Wiretap.MARKER);

    /**
     * slurmctld may write down what it knows 13 s late, and the drive's file system has it for good 5 s after that; a start that is
     * forgotten is done again, on a plain cluster too.
     */
    private static final int SAVED_S = 30;

    /** The kernel sends what was written five seconds ago. */
    private static final int DEAD_S = 10;

    private static final Path JOBS = Path.of("src/test/resources/jobs");
    private static final String RUNNING = "running";
    private static final List<String> QEMU = List.of("qemu-system-x86_64");

    @TempDir
    private static Path folder;

    private static Lab lab;

    /** Way in which a controlling VM is lost. */
    private enum How {
        QEMU_KILLED,
        AGENT_KILLED,
        /** Its drive has the next epoch: another VM was given it. */
        DRIVE_NAMED
    }

    /**
     * @param phase that a job is in beside one that runs, as {@code jobs/phase.sh} has them
     */
    private record Loss(How how, String phase) {}

    private static ProjectFixture project;
    /** The VM that runs, and the drive's epoch that it has. */
    private static ProjectFixture.OpenedVm opened;

    private static long epoch;

    @BeforeAll
    static void setUp(Lab of) throws Exception {
        lab = of;
        project = ProjectFixture.first(WorkingSite.start(lab, folder.resolve("site")), folder.resolve("people"));
        opened = project.openNewDrive();
        epoch = project.awaitWork(opened).path("epoch").asLong();
        project.member.configure();
        project.member.put(Files.writeString(folder.resolve("job.sh"), SCRIPT));
        project.member.put(JOBS.resolve("phase.sh"));
    }

    /** Under two running jobs, in one of the ways; with {@code cloister.sweep.all} each there is. */
    static List<Loss> losses() {
        List<Loss> all = new ArrayList<>(List.of(new Loss(How.DRIVE_NAMED, RUNNING)));
        for (String phase : List.of("queue", "boot", "evidence", "keys", "tunnel", "registration", "start", RUNNING)) {
            all.add(new Loss(How.AGENT_KILLED, phase));
            all.add(new Loss(How.QEMU_KILLED, phase));
        }
        Collections.shuffle(all, new Random(ScenarioSeed.of("loss")));
        return Boolean.getBoolean("cloister.sweep.all") ? all : all.subList(0, 1);
    }

    @ParameterizedTest
    @Order(0)
    @MethodSource("losses")
    void two_jobs_live_on_and_end_well(Loss loss) throws Exception {
        System.out.println(loss);
        project.explained(() -> {
            List<String> jobs = setUp(loss.phase());
            String node = project.member.node(jobs.get(0));
            String since = project.member.slurmdSince(node);
            lose(loss);
            assertLost();
            reopen(loss, jobs);
            // It does not wait to be asked.
            project.member.awaitSlurmd(node, since);
            project.member.runSsh("touch go");
            for (String job : jobs) {
                project.member.awaitEnd(job);
                assertThat(project.member.state(job)).isEqualTo("COMPLETED|0:0");
                // srun may say, too, that it waited for slurmctld.
                String nodes = loss.phase().equals(RUNNING) && job.equals(jobs.get(0)) ? "2" : "1";
                assertThat(project.member.runSsh("grep -v ^srun: " + job + ".txt"))
                        .matches("begun\n(step on \\S+-[01]\n){" + nodes + "}over\n");
                if (loss.phase().equals(RUNNING)) {
                    assertThat(project.member.runSsh("scontrol -o show job " + job))
                            .contains(" Restarts=0 ");
                }
            }
            project.awaitNoWorker();
        });
    }

    /** What a person who may open it is told, and the drive's epoch. */
    private static void assertLost() throws IOException {
        assertThat(project.second.projectStatus())
                .containsPattern("state +(lost|closed): ")
                .containsPattern("you +as p2 until ")
                .containsPattern("epoch +" + epoch);
    }

    private static void lose(Loss loss) throws IOException {
        switch (loss.how()) {
            case QEMU_KILLED -> project.site().guests().kill(opened.owner());
            case AGENT_KILLED -> project.site().guests().killAgent(opened.owner());
            case DRIVE_NAMED -> project.site().createDrive(opened.owner().project(), ProjectFixture.DRIVE, epoch + 1);
        }
        project.awaitGone(opened);
        opened.close();
    }

    /** By the second owner, whose first try would take an older drive for this one; and its host has the wrong time. */
    private static void reopen(Loss loss, List<String> jobs) throws IOException {
        LabCommand.Output older = project.opening(
                        project.second, ProjectFixture.words("--epoch", Long.toString(epoch)), project.shared())
                .run();
        assertThat(older.exit()).as(older.out()).isNotZero();
        assertThat(older.err()).contains("epoch");

        long had = loss.how() == How.DRIVE_NAMED ? epoch + 1 : epoch;
        epoch = had + 1;
        opened = project.open(project.second, ProjectFixture.words("--epoch", Long.toString(epoch)), project.shared());
        project.site().guests().writeConsole(opened.owner(), "clock + 3 hours");
        assertThat(project.awaitWork(opened).path("found").asText()).isEqualTo("epoch " + had);
        ControllerInspection.of(project.readConsole(opened)).assertWorks();
        assertThat(project.readConsole(opened)).containsPattern("clock: was \\d{5} s from the opener's");
        if (loss.how() != How.AGENT_KILLED) {
            // The VM before ended at once, and its database says so at this opening.
            assertThat(project.readConsole(opened)).contains("crash recovery");
        }
        // To a relay that three busy VMs leave no time for, a host may not answer at the first call.
        project.member.awaitLogin();
        String running = project.member.runSsh("squeue -h -t running -o %A");
        assertThat(running.lines()).containsAll(loss.phase().equals(RUNNING) ? jobs : jobs.subList(0, 1));
    }

    /** Its steps go on meanwhile, and the next one finds it. */
    @Test
    @Order(1)
    void a_slurmd_that_is_killed_comes_back_under_its_job() throws Exception {
        project.explained(() -> {
            MemberDevice member = project.member;
            String job = member.submit("--output=slurmd.txt"
                    + " --wrap='srun bash -c \"until [ -e back ]; do sleep 1; done; echo first\"; srun echo next'");
            member.awaitRunning(job);
            String node = member.node(job);
            String since = member.slurmdSince(node);
            project.site().guests().writeConsole(project.worker(job), "kill slurmd");
            member.awaitSlurmd(node, since);
            member.runSsh("touch back");
            member.awaitEnd(job);
            assertThat(member.state(job)).isEqualTo("COMPLETED|0:0");
            assertThat(member.runSsh("grep -v ^srun: slurmd.txt")).isEqualTo("first\nnext\n");
            project.awaitNoWorker();
        });
    }

    /** The site cancels its job; its worker is asked to leave, and nothing in it says that the job has ended. */
    @Test
    @Order(2)
    void a_job_whose_worker_the_site_takes_away_ends_as_on_a_node_that_fails() throws Exception {
        project.explained(() -> {
            MemberDevice member = project.member;
            String job = member.submit("--no-requeue --output=taken.txt --wrap='srun sleep 600; echo status $?'");
            member.awaitRunning(job);
            String node = member.node(job);
            ResourceOwner worker = project.worker(job);
            lab.slurm().client("scancel", Long.toString(worker.globalJob()));
            member.awaitEnd(job);
            assertThat(member.state(job)).startsWith("NODE_FAIL");
            VmShutdownResult.of(project.site().hosts(), worker).assertOrderly();
            assertThat(member.runSsh("cat cloister-" + node + "-*/journal")).contains("the host stops this VM within ");
            assertThat(member.runSsh("cat taken.txt")).doesNotContain("status");
            project.awaitNoWorker();
        });
    }

    /** The controlling VM's cable is out, and the job writes without a pause. */
    @Test
    @Order(3)
    void a_worker_whose_storage_is_dead_ends_in_good_order() throws Exception {
        project.explained(() -> {
            MemberDevice member = project.member;
            String job = member.submit("--no-requeue --tmp=40 --output=dead.txt"
                    + " --wrap='while echo on | tee -a /scratch/file; do sleep 0.1; done'");
            member.awaitRunning(job);
            ResourceOwner worker = project.worker(job);
            CompletableFuture<Void> cut = CompletableFuture.runAsync(() -> {
                try {
                    project.site().guests().unplug(opened.owner(), AgentHostFiles.ORDERLY.multipliedBy(4));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            // What it has written waits for the storage.
            TimeUnit.SECONDS.sleep(DEAD_S);
            lab.slurm().client("scancel", Long.toString(worker.globalJob()));
            VmShutdownResult.of(project.site().hosts(), worker).assertOrderly();
            assertThat(cut).as("the cable").isNotDone();
            assertThat(project.site().consoles().of(worker.names().domain())).contains("storage does not answer");
            cut.join();
            member.awaitEnd(job);
            assertThat(member.state(job)).startsWith("NODE_FAIL");
            String receipt = "/project/receipts/" + worker.ticket() + ".json";
            LabCommand.Output verified = project.verify(Files.writeString(
                    folder.resolve("dead.json"),
                    member.runSsh("until [ -e " + receipt + " ]; do sleep 1; done; cat " + receipt)));
            assertThat(verified.exit()).as(verified.toString()).isZero();
            assertThat(verified.out()).contains("volume erased ").doesNotContain("NOT known to be erased");
            project.awaitNoWorker();
        });
    }

    @Test
    @Order(4)
    void a_project_that_is_closed_ends_in_good_order() throws Exception {
        project.explained(() -> {
            assertThat(opened.wire().clear()).isZero();
            assertThat(project.member.runSsh("cat job.sh")).contains(Wiretap.MARKER);
            assertThat(marker().memory(QEMU)).as("what its host can see").isNotEmpty();
            project.second.close(opened.owner().ticket());
            VmShutdownResult.of(project.site().hosts(), opened.owner()).assertOrderly();
            assertThat(project.readConsole(opened))
                    .contains("slurmctld: Saving all slurm state", "mariadbd: Shutdown complete")
                    .doesNotContain("cannot be closed", "cannot be stopped", "unmounted while");
            opened.close();
        });
        project.awaitNothing();
    }

    /** It starts the VM, whose opener gives it nothing. */
    @Test
    @Order(5)
    void a_host_that_the_owners_do_not_name_has_nothing_of_their_project() throws Exception {
        project.explained(() -> {
            opened = project.openUnnamed(
                    project.first, ProjectFixture.words("--epoch", Long.toString(epoch + 1)), project.shared());
            assertThat(project.awaitDenied(opened)).contains("denied by host: ");
            assertThat(marker().memory(QEMU)).isEmpty();
            assertThat(marker().memory(WorkingSite.DAEMONS)).isEmpty();
            assertThat(marker().files(project.site().folders())).isEmpty();
            project.first.close(opened.owner().ticket());
            opened.close();
        });
        project.awaitNothing();
    }

    private static MarkerSearch marker() {
        return new MarkerSearch(Wiretap.MARKER);
    }

    @AfterAll
    static void tearDown() throws IOException {
        project.close();
    }

    /** One job that runs, and one in that phase, when slurmctld has written down what it knows of them. */
    private static List<String> setUp(String phase) throws Exception {
        MemberDevice member = project.member;
        // Of a loss that ended otherwise.
        member.runSsh("scancel --user=$USER; rm -f go");
        project.awaitNoWorker();
        boolean runs = phase.equals(RUNNING);
        // Two workers are readmitted together; with the other's they take all CPUs but one.
        String first = runs ? "--nodes=2 " : "";
        // Of a job that waits the time comes when the first has been written down.
        String other = runs ? "" : "--begin=now+" + SAVED_S + "seconds ";
        List<String> jobs = List.of(member.submit(first + "job.sh"), member.submit(other + "job.sh"));
        member.awaitRunning(jobs.get(0));
        System.out.println(member.runSsh("bash phase.sh " + jobs.get(1) + " " + phase));
        if (runs) {
            // For Slurm a job runs while the prolog does.
            member.runSsh("for each in " + String.join(" ", jobs)
                    + "; do until grep -q begun $each.txt; do sleep 1; done; done 2>/dev/null");
            TimeUnit.SECONDS.sleep(SAVED_S);
        }
        return jobs;
    }
}
