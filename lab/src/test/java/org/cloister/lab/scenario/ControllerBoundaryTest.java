package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.Lab;
import org.cloister.lab.SampledScenario;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.WorkingSite;
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

/**
 * A real controlling VM and a real worker: what root of the worker has of the controlling VM that its job's user has not, and
 * what a member has of it beside its queue.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Tag("scenario")
@Tag("vm")
@Tag("boundary")
@Timeout(2400)
@RotatedScenario(4)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class ControllerBoundaryTest {
    private static final Path JOBS = Path.of("src/test/resources/jobs");
    private static final String HOME = "/project/home/" + ProjectFixture.LOGIN + "/";

    /** What is refused, and in which words, be it by slurmctld or by a filter before its port. */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            Map.entry("trigger", "exit [1-9].*"),
            Map.entry("node trigger", "exit [1-9].*"),
            Map.entry("job of root", "exit [1-9].*"),
            Map.entry("job of slurm", "exit [1-9].*"),
            Map.entry("job of mysql", "exit [1-9].*"),
            Map.entry("prolog of root", "exit [1-9][0-9]? .*|exit 1[^2][0-9] .*"),
            Map.entry("prolog of slurm", "exit [1-9][0-9]? .*|exit 1[^2][0-9] .*"),
            Map.entry("slurmdbd", "exit 1"),
            Map.entry("database", "exit 1"),
            Map.entry("daemons' folders", "exit 2 (.*Permission denied){2}.*"),
            Map.entry("device", "exit 1 .*(Operation not permitted|Permission denied).*"),
            Map.entry("set-uid owner", "exit 1 .*Operation not permitted.*"),
            Map.entry("another's home", "exit 2 .*Permission denied.*"),
            Map.entry("chronyc tracking", "exit 1 .*"),
            Map.entry("chronyc makestep", "exit 1 .*"),
            Map.entry("chronyc allow all", "exit 1 .*"),
            Map.entry("chronyc shutdown", "exit 1 .*"));

    /** What docs/threat-model.md grants, and what comes of it. */
    private static final Map<String, String> GRANTED = Map.of(
            "job of another member",
            "exit 0 [0-9]+",
            "mount",
            "exit 0",
            // The job's user's own, though root of the worker made it: its bit gives no more than that user's rights.
            "owner",
            "exit 0 2001");

    /** What it grants of the network. */
    private static final Map<String, String> REACHED = Map.of(
            // A worker's charon is its root's. It gets its two addresses and no more, though it asks for all.
            "tunnel loaded",
            "exit 0 .*",
            "tunnel got",
            "local [0-9.]+/32 remote [0-9.]+/32",
            "UDP ports",
            "123 500 4500",
            "open ports",
            "2049 6817");

    @TempDir
    private static Path folder;

    private static ProjectFixture project;
    private static ProjectFixture.OpenedVm opened;
    private static MemberDevice member;

    @BeforeAll
    static void setUp(Lab lab) throws Exception {
        project = ProjectFixture.first(WorkingSite.start(lab, folder.resolve("site")), folder);
        opened = project.openNewDrive();
        project.awaitWork(opened);
        member = project.member;
        member.configure();
        project.bob.configure();
        member.put(
                JOBS.resolve("boundary-try.sh"),
                JOBS.resolve("boundary-worker.sh"),
                JOBS.resolve("boundary-network.sh"),
                JOBS.resolve("boundary-orders.sh"),
                JOBS.resolve("boundary-filter.sh"),
                JOBS.resolve("boundary-controller.sh"),
                Files.writeString(folder.resolve("boundary-ports"), ports()));
    }

    @AfterAll
    static void tearDown() throws IOException {
        opened.close();
        project.first.close(opened.owner().ticket());
        project.awaitNothing();
        project.close();
    }

    @Test
    @Order(1)
    @SampledScenario(value = 0, cases = 6)
    void root_of_a_worker_gets_what_the_threat_model_grants_and_nothing_more() throws Exception {
        project.explained(() -> {
            String job = member.submit("--output=/dev/null --wrap='sleep 3600'");
            // Their workers boot side by side.
            String after =
                    member.submit("--output=after.txt --wrap='until [ -e go ]; do sleep 1; done; srun echo after'");
            member.awaitRunning(job);
            Map<String, String> answers = asRoot(project.worker(job), "boundary-worker.sh");
            REFUSED.forEach((name, answer) ->
                    assertThat(answers.get(name)).as(name).isNotNull().matches(answer));
            GRANTED.forEach((name, answer) ->
                    assertThat(answers.get(name)).as(name).isNotNull().matches(answer));
            assertThat(answers.get("storage's options")).contains("nosuid", "nodev");
            project.bob.runSsh("scancel --user=bob");
            // Nothing of it is left, and the queue works as before.
            member.runSsh("rm -f boundary-id; touch go; scancel " + job);
            member.awaitEnd(after);
            assertThat(member.state(after)).isEqualTo("COMPLETED|0:0");
            assertThat(
                            member.runSsh(
                                    "cat after.txt; rm go; squeue -h -t running; scancel $(sbatch --parsable --hold --wrap=true)"))
                    .isEqualTo("after\n");
        });
    }

    @Test
    @Order(6)
    @SampledScenario(value = 5, cases = 6)
    void root_of_a_worker_reaches_its_own_tunnel_and_the_services_of_workers_alone() throws Exception {
        project.explained(() -> {
            Map<String, String> answers = asRootOfWorker("boundary-network.sh");
            REACHED.forEach((name, answer) ->
                    assertThat(answers.get(name)).as(name).isNotNull().matches(answer));
        });
    }

    /** Which of the TCP ports that no service is known for, as the script reads it: all, or an eighth of them. */
    private static String ports() {
        return Boolean.getBoolean("cloister.sweep.all")
                ? "0 1\n"
                : Math.floorMod(ScenarioSeed.of("ports"), 8L) + " 8\n";
    }

    /** slurmctld itself takes these of its own account and, but for triggers, of root: what stops them stands before its port. */
    @Test
    @Order(4)
    @SampledScenario(value = 3, cases = 6)
    void orders_of_slurms_administrator_are_refused_to_root_of_a_worker() throws Exception {
        project.explained(() -> {
            Map<String, String> answers = asRootOfWorker("boundary-orders.sh");
            assertThat(answers).hasSize(30);
            answers.forEach((name, answer) -> assertThat(answer).as(name).matches("exit [1-9].*"));
            assertThat(member.runSsh(
                            "sinfo -h -o %P:%a:%l; scontrol show reservation; sacctmgr -n list account boundary"))
                    .contains("secure*:up:")
                    .doesNotContain("boundary");
        });
    }

    @Test
    @Order(2)
    @SampledScenario(value = 1, cases = 6)
    void a_member_reaches_no_daemons_socket_but_slurms() throws Exception {
        project.explained(() -> {
            assertThat(member.ssh("mariadb --no-defaults --socket=/run/mysqld/mysqld.sock -e 'select 1'")
                            .run()
                            .err())
                    .contains("(13)");
            assertThat(member.ssh(
                                    "ls /run/cloister/charon /run/cloister/munge /run/cloister/ssh; cat /run/cloister/bell")
                            .run()
                            .out())
                    .doesNotContain("vici.sock", "munge.key", "host_key");
            // Of what daemons write to, the overlay and /run, nothing but where mounts of their own are.
            assertThat(member.ssh("find / /run -xdev -type d -writable 2>/dev/null")
                            .run()
                            .out()
                            .lines())
                    .isSubsetOf("/tmp", "/var/tmp", "/run/lock");
        });
    }

    /** Each of them is full while a job is taken, gets its worker and its storage, and ends. */
    @Test
    @Order(3)
    @SampledScenario(value = 2, cases = 6)
    void a_member_who_fills_what_all_may_write_to_stops_no_job() throws Exception {
        project.explained(() -> {
            assertThat(
                            member.runSsh(
                                    "for each in /tmp /var/tmp /run/lock; do dd if=/dev/zero of=$each/fill bs=1M 2>&1; done; true"))
                    .contains("No space left on device");
            String job = member.submit("--output=filled.txt --wrap='cat boundary-worker.sh | wc -c'");
            member.awaitEnd(job);
            assertThat(member.state(job)).isEqualTo("COMPLETED|0:0");
            assertThat(member.runSsh(
                            "df --output=pcent /tmp /var/tmp | tail -n 2; rm /tmp/fill /var/tmp/fill /run/lock/fill"))
                    .contains("100%");
        });
    }

    /** A step after it goes through the filter that was started again. */
    @Test
    @Order(5)
    @SampledScenario(value = 4, cases = 6)
    void without_its_filter_the_queue_lets_new_workers_wait_and_jobs_go_on() throws Exception {
        project.explained(() -> {
            String job = member.submit(
                    "--job-name=goes-on --output=goes-on.txt --wrap='until [ -e go ]; do sleep 1; done; srun echo step'");
            member.awaitRunning(job);
            Map<String, String> answers = asRoot(opened.owner(), "boundary-filter.sh");
            assertThat(answers)
                    .containsEntry("after kill", "active")
                    .containsEntry("running meanwhile", "goes-on")
                    .containsEntry("the one that waited", "COMPLETED");
            assertThat(answers.get("why"))
                    .contains("waits on the controlling VM", "the filter before slurmctld does not run");
            member.runSsh("touch go");
            member.awaitEnd(job);
            assertThat(member.state(job)).isEqualTo("COMPLETED|0:0");
            assertThat(member.runSsh("cat goes-on.txt; rm go")).isEqualTo("step\n");
        });
    }

    /** Last: it also looks for what the attempts before it have left. */
    @Test
    @Order(7)
    void daemons_of_the_queue_run_no_program_and_see_their_own_state_alone() throws Exception {
        project.explained(() -> {
            Map<String, String> answers = asRoot(opened.owner(), "boundary-controller.sh");
            for (String unit : List.of("slurmctld", "slurmdbd")) {
                assertThat(answers)
                        .containsEntry(unit + " user", "slurm")
                        .containsEntry(unit + " capabilities", "0000000000000000 1")
                        .containsEntry(unit + " sees in /home", "0")
                        .containsEntry(unit + " sees in /root", "0")
                        .containsEntry(unit + " sees in /var/lib/cloister", "0")
                        .containsEntry(unit + " sees in /run/cloister-sessions", "0")
                        .containsEntry(unit + " sees in /etc/ssh", "0")
                        .containsEntry(unit + " sees in /var/log", "0")
                        .containsEntry(unit + " sees in /dev/shm", "0");
                assertThat(List.of(answers.getOrDefault(unit + " executes", "").split(" ", -1)))
                        .as(unit)
                        .allMatch(place -> place.matches("/usr/sbin/" + unit + ".*|/usr/lib/x86_64-linux-gnu|/usr/lib64"
                                + "|/run/systemd/incoming|/var/lib/nfs/rpc_pipefs"));
            }
            assertThat(answers)
                    .containsEntry("slurmctld sees of the drive", ". ./cloister ./cloister/slurm")
                    .containsEntry("slurmctld sees of agent-vm", ". ./bell")
                    .containsEntry("slurmdbd sees of the drive", ".")
                    .containsEntry("slurmdbd sees of agent-vm", ".")
                    // All four were set by slurmctld's own account and have had their event.
                    .containsEntry("triggers that wait", "0")
                    .containsEntry("left", "")
                    // The storage, slurmctld, slurmdbd, whose unit hears the loopback alone, and the filter, to which
                    // workers' connections to slurmctld go.
                    .containsEntry("TCP ports", "2049 6817 6819 16817")
                    // chronyd for workers' clocks, IKE, and IKE behind UDP encapsulation.
                    .containsEntry("UDP ports", "123 500 4500")
                    .containsEntry("munge key", "400 munge");
            assertThat(answers.get("queue")).endsWith(" is UP");
            assertThat(answers.get("vici")).matches("(7[0-7]0|600) root .*");
            assertThat(answers.get("sessions")).isEqualTo("600 root");
            assertThat(answers.get("drive")).contains("nosuid", "nodev");
        });
    }

    /** The same as root of the worker of a job, which is gone afterwards. */
    private static Map<String, String> asRootOfWorker(String script) throws Exception {
        String job = member.submit("--output=/dev/null --wrap='sleep 3600'");
        member.awaitRunning(job);
        Map<String, String> answers = asRoot(project.worker(job), script);
        member.runSsh("scancel " + job);
        member.awaitEnd(job);
        return answers;
    }

    /** What a script of the member's home says as root there: names, and what was said of each. */
    private static Map<String, String> asRoot(ResourceOwner vm, String script) throws IOException {
        project.site().guests().writeConsole(vm, "root " + HOME + script);
        ControllerInspection inspection = ControllerInspection.await(project, vm, "ended " + HOME + script);
        Map<String, String> answers = new TreeMap<>();
        for (String line : inspection.at("sh " + HOME + script)) {
            String[] part = line.split(": ", 2);
            if (part.length == 2) {
                answers.put(part[0], part[1].stripTrailing());
            }
        }
        answers.forEach((name, what) -> System.out.println(name + ": " + what));
        return answers;
    }
}
