package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.interfaces.ECPrivateKey;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.site.MarkerSearch;
import org.cloister.lab.site.SecretSearch;
import org.cloister.lab.site.WorkingSite;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;
import org.cloister.protocol.identity.CertificateName;
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

/** A member's jobs in real VMs, by ssh and sbatch as on any cluster. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("scenario")
@Tag("vm")
@Timeout(2400)
@RotatedScenario({1, 2, 3, 5})
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class ProjectJobTest {
    private static final String MARKER = Wiretap.MARKER;
    private static final Path JOBS = Path.of("src/test/resources/jobs");
    static final Path DEMO = Path.of("src/main/resources/org/cloister/lab/demo");

    /** munged's, in each VM. */
    private static final String MUNGE_KEY = "/run/cloister/munge/munge.key";

    private static final String SCRIPT = """
            #!/bin/bash
            #SBATCH --output=out.txt
            # @-script
            echo @-output >> "$PLACE/out"
            echo "host $(hostname) user $(id -un) input $(cat input)"
            srun bash -c 'echo "step on $(hostname) node $SLURMD_NODENAME"'
            exit "${1:-0}"
            """.replace("@", MARKER);

    @TempDir
    private static Path folder;

    private static Lab lab;
    private static ProjectFixture project;
    private static MemberDevice member;
    private static MemberDevice bob;
    private static ProjectFixture.OpenedVm opened;
    private static JsonNode answer;
    private static JobPhaseKillSweep kills;
    private static Wiretap loopback;
    private static Wiretap trunk;
    // Each runs from one test into a later one: limits are whole minutes, and a script has many things to try.
    private static LimitedJob limited;
    private static HostileJob hostile;
    /** Whether a job had workers on both hosts, so that frames of the project were on the trunk. */
    private static boolean isOverTwoHosts;

    @BeforeAll
    static void setUp(Lab of) throws Exception {
        lab = of;
        // Between devices, the relay and the way to it.
        loopback = new Wiretap(List.of(FrameSocket.open(Path.of("/proc/self/ns/net"), "lo")));
        trunk = Wiretap.trunk(lab);
        project = ProjectFixture.first(WorkingSite.start(lab, folder.resolve("site")), folder);
        opened = project.openNewDrive();
        answer = project.awaitWork(opened);
        kills = new JobPhaseKillSweep(project, opened);
        member = project.member;
        bob = project.bob;
        member.configure();
        bob.configure();
    }

    @AfterAll
    static void tearDown() throws IOException {
        opened.close();
        loopback.close();
        trunk.close();
        project.first.close(opened.owner().ticket());
        project.awaitNothing();
        project.close();
    }

    @Test
    @Order(0)
    void the_controlling_vm_is_at_work_and_listens_where_the_documents_say() throws Exception {
        project.explained(() -> {
            assertThat(answer.path("vm").asText()).isEqualTo("open");
            assertThat(answer.path("found").asText()).isEqualTo("made");
            ControllerInspection.of(project.readConsole(opened)).assertWorks();
        });
    }

    @Test
    @Order(1)
    void a_job_reads_and_writes_its_projects_storage_and_ends_with_its_status() throws Exception {
        project.explained(() -> {
            assertThat(member.runSsh("id -un")).isEqualTo(ProjectFixture.LOGIN + "\n");
            member.put(Files.writeString(folder.resolve("job.sh"), SCRIPT));
            member.put(Files.writeString(folder.resolve("input"), MARKER + "-input\n"));
            String line = "mkdir @-path; PLACE=$HOME/@-path sbatch --wait --job-name=@-name --comment=@-comment"
                    + " --export=ALL,OTHER=@-environment job.sh 3 @-argument";
            LabCommand.Output waited = member.ssh(line.replace("@", MARKER)).run();
            assertThat(waited.exit()).isEqualTo(3);
            assertThat(member.state("1")).isEqualTo("FAILED|3:0");
            Path out = folder.resolve("out.txt");
            member.get("out.txt", out).succeed();
            assertThat(Files.readString(out))
                    .matches("host (\\S+) user " + ProjectFixture.LOGIN + " input " + MARKER
                            + "-input\nstep on \\1 node \\1\n");
            project.awaitNoWorker();
            project.site().guests().writeConsole(opened.owner(), "keys");
        });
    }

    @Test
    @Order(2)
    @RotatedScenario(5)
    void an_mpi_program_runs_over_two_vms() throws Exception {
        project.explained(() -> {
            Path program = folder.resolve("mpi-hello");
            LabCommand.of(
                            "cc",
                            "-I" + DEMO,
                            "-o",
                            program.toString(),
                            JOBS.resolve("mpi-hello.c").toString(),
                            "-ldl")
                    .succeed();
            member.put(program);
            member.put(JOBS.resolve("mpi-hello.sh"));
            isOverTwoHosts = true;
            String submit =
                    "chmod +x mpi-hello; sbatch --wait --nodes=2 --ntasks-per-node=1 --output=mpi.txt mpi-hello.sh"
                            + " $HOME/mpi-hello";
            LabCommand.Output waited = member.ssh(submit).run();
            String output = member.runSsh("cat mpi.txt");
            assertThat(waited.exit()).as(output).isZero();
            assertThat(output.lines())
                    .hasSize(3)
                    .anyMatch(line -> line.matches("mpi-hello: rank 0 of 2 on \\S+, sum 1"))
                    .anyMatch(line -> line.matches("mpi-hello: rank 1 of 2 on \\S+, sum 1"))
                    // Ranks go to nodes in the order in which those joined.
                    .anyMatch(line -> line.contains("-0, sum 1"))
                    .anyMatch(line -> line.contains("-1, sum 1"))
                    .contains("mpi-hello: ok");
            project.awaitNoWorker();
        });
    }

    /** Its logs say so, in the home of the job's user; the next worker has the right one. */
    @Test
    @Order(3)
    @RotatedScenario(5)
    void a_worker_with_another_munge_key_joins_nothing() throws Exception {
        project.explained(() -> {
            member.put(JOBS.resolve("phase.sh"));
            ForeignMungeKeyWorker.assertJoinsNothing(project);
            project.awaitNoWorker();
        });
    }

    @Test
    @Order(3)
    @RotatedScenario(1)
    void a_job_reaches_nothing_of_anothers_and_when_it_is_cancelled_says_so() throws Exception {
        project.explained(() -> {
            bob.put(DEMO.resolve("reach.sh"));
            limited = LimitedJob.submit(project, opened);
            String cancelled = bob.submit("--wrap='sleep 1800'");
            member.awaitRunning(limited.id());
            limited.disturb();
            limited.assertScratchIsNoise();
            // That one's time may be over before bob's has begun.
            String beside = member.submit("--wrap='sleep 1800'");
            member.awaitRunning(cancelled);
            member.awaitRunning(beside);
            OutsideAccessAttempts reach = new OutsideAccessAttempts(project);
            reach.assertNothingOfAnothers(beside, cancelled);
            reach.assertNoMoreOfTheStorage(project.worker(cancelled));
            reach.assertItsNodeIsTheVm(beside);
            project.site().guests().writeConsole(project.worker(cancelled), "keys");
            assertThat(keys(project.worker(cancelled))).containsExactly(MUNGE_KEY);
            member.runSsh("scancel " + beside);
            bob.runSsh("scancel " + cancelled);
            member.awaitEnd(beside);
            member.awaitEnd(cancelled);
            assertThat(member.state(cancelled)).startsWith("CANCELLED");
        });
    }

    /** Beside the script, which has its time. All of them take two hours. */
    @Test
    @Order(4)
    @Timeout(4 * 3600)
    @RotatedScenario(2)
    void a_job_ends_as_documented_whatever_is_killed() throws Exception {
        project.explained(() -> {
            member.put(JOBS.resolve("go.sh"), JOBS.resolve("phase.sh"));
            hostile = HostileJob.submit(project, opened);
            assertAll(JobPhaseKill.draw().stream().map(kill -> () -> kills.assertEnds(kill)));
        });
    }

    @Test
    @Order(5)
    @RotatedScenario(3)
    void what_a_script_tries_against_its_worker_is_refused() throws Exception {
        project.explained(() -> {
            if (hostile == null) {
                hostile = HostileJob.submit(project, opened);
            }
            hostile.assertRefused();
            project.awaitNoWorker();
        });
    }

    @Test
    @Order(6)
    @RotatedScenario(1)
    void a_job_over_its_time_limit_ends_as_on_a_plain_cluster_and_its_global_job_is_over() throws Exception {
        project.explained(() -> {
            member.awaitEnd(limited.id());
            limited.assertOver();
            String ticket = member.ticket(limited.id());
            assertThat(lab.slurm().awaitOver(ticket, 1))
                    .singleElement()
                    .asString()
                    .endsWith("|COMPLETED");
        });
    }

    @Test
    @Order(7)
    @RotatedScenario(3)
    void another_project_reaches_nothing_of_this_one() throws Exception {
        project.explained(() -> {
            String job = member.submit("--wrap='sleep 3600'");
            ProjectFixture other = project.beside(folder.resolve("other"));
            try (ProjectFixture.OpenedVm beside = other.openNewDrive()) {
                other.awaitWork(beside);
                other.member.configure();
                member.awaitRunning(job);
                new OutsideAccessAttempts(project).assertNothingFrom(other, job);
                other.first.close(beside.owner().ticket());
                other.awaitGone(beside);
            }
            member.runSsh("scancel " + job);
            member.awaitEnd(job);
            project.awaitNoWorker();
        });
    }

    @Test
    @Order(8)
    void each_ticket_has_a_receipt_that_holds() throws Exception {
        project.explained(() -> {
            for (String job : member.runSsh("sacct -n -X -P -S now-1days -s COMPLETED -o JobID")
                    .lines()
                    .toList()) {
                // It comes when its hosts have said that all is gone.
                member.runSsh("until [ -e /project/receipts/" + member.ticket(job) + ".json ]; do sleep 1; done");
            }
            for (String name : member.runSsh("ls /project/receipts").lines().toList()) {
                LabCommand.Output verified = receipt(name);
                if (kills.silent().contains(name.replace(".json", ""))) {
                    assertThat(verified.out()).contains("ticket " + name.replace(".json", ""));
                    assertThat(verified.out().lines().filter(line -> line.startsWith("wrong ")))
                            .allMatch(line -> line.contains("worker's part  missing"));
                } else {
                    assertThat(verified.exit()).as(name + ": " + verified).isZero();
                }
            }
            for (String job : withScratch()) {
                assertThat(receipt(member.ticket(job) + ".json").out())
                        .contains("volume erased ")
                        .doesNotContain("NOT known to be erased");
            }
        });
    }

    private static List<String> withScratch() {
        return Stream.concat(
                        Stream.ofNullable(limited).map(LimitedJob::id),
                        Stream.ofNullable(hostile).map(HostileJob::id))
                .toList();
    }

    private static LabCommand.Output receipt(String name) throws IOException {
        return project.verify(Files.writeString(folder.resolve(name), member.runSsh("cat /project/receipts/" + name)));
    }

    /** Whose certificates lie beside it. Any member may look. */
    @Test
    @Order(9)
    void what_was_taken_out_is_in_a_log_that_holds() throws Exception {
        project.explained(() -> {
            new ExportLogView(project, bob).assertHolds(Files.createDirectory(folder.resolve("taken-out")));
        });
    }

    @Test
    @Order(9)
    void keys_are_in_their_files_alone() throws Exception {
        project.explained(() ->
                assertThat(keys(opened.owner())).containsExactlyInAnyOrder(MUNGE_KEY, "/run/cloister/ssh/host_key"));
    }

    /** Where a VM's own search, which was told to begin, finds the munge key. */
    private static List<String> keys(ResourceOwner vm) throws IOException {
        List<String> lines =
                ControllerInspection.await(project, vm, "over after ").at("/usr/lib/cloister-lab/keys");
        return lines.subList(0, lines.size() - 1);
    }

    /** Those of machines, which their daemons have been at work with. */
    @Test
    @Order(10)
    void keys_of_relay_and_hosts_are_in_their_files_alone() throws Exception {
        SecretSearch search = new SecretSearch();
        Set<String> files = new TreeSet<>();
        for (CertificateName name :
                List.of(RelaySiteFiles.RELAY, RelaySiteFiles.NODES.get(0), RelaySiteFiles.NODES.get(1))) {
            RelaySiteFiles siteFiles = project.site().parties();
            search.add(name.id(), (ECPrivateKey) siteFiles.credential(name).key());
            files.add(siteFiles.key(name).getFileName().toString());
        }
        assertThat(search.files(project.site().folders()))
                .extracting(file -> file.getFileName().toString())
                .hasSameElementsAs(files);
        ProcessBuilder process = new ProcessBuilder("sleep", "300");
        process.environment()
                .put("KEY", Files.readString(project.site().parties().key(RelaySiteFiles.RELAY)));
        Process there = process.start();
        try {
            assertThat(search.processes()).isNotEmpty();
        } finally {
            there.destroyForcibly().waitFor();
        }
        assertThat(search.processes()).isEmpty();
    }

    @Test
    @Order(11)
    void no_word_of_a_job_is_anywhere_outside_of_the_projects_vms() throws Exception {
        project.explained(() -> {
            // The search does find: where they belong.
            assertThat(member.runSsh("grep -r -h -o -e '" + MARKER + "[a-z-]*' . | sort -u")
                            .lines())
                    .contains(MARKER + "-script", MARKER + "-output", MARKER + "-input");
            assertThat(member.runSsh("sacct -n -X -P -j 1 -o JobName").strip()).isEqualTo(MARKER + "-name");
            MarkerSearch search = new MarkerSearch(MARKER);
            assertThat(search.files(List.of(folder.resolve("job.sh")))).isNotEmpty();
            String ticket =
                    member.runSsh("ls /project/receipts").lines().findFirst().orElseThrow();
            MarkerSearch known = new MarkerSearch(ticket.replace(".json", ""));
            assertThat(known.files(lab.slurm().folders())).isNotEmpty();
            assertThat(known.memory(WorkingSite.DAEMONS)).isNotEmpty();

            assertThat(search.files(project.site().folders(), "console.log")).isEmpty();
            assertThat(lab.slurm().accountingRows()).doesNotContain(MARKER);
            assertThat(search.memory(WorkingSite.DAEMONS)).isEmpty();
            assertThat(opened.wire().clear()).isZero();
            assertThat(opened.wire().strange())
                    .as("frames that are neither ARP, IKE nor ESP")
                    .isZero();
            assertThat(opened.wire().encrypted()).isPositive();
            assertThat(loopback.clear()).isZero();
            assertThat(trunk.clear()).isZero();
            if (isOverTwoHosts) {
                assertThat(trunk.encrypted()).isPositive();
            }
        });
    }
}
