package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.cloister.host.control.CallerJobLookup;
import org.cloister.host.control.ControlServer;
import org.cloister.host.control.FakeHostOperations;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.vm.VmRunCode;
import org.cloister.lab.Poll;
import org.cloister.lab.host.CgroupJobStep;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** agentctl as the step of a real Slurm's job, and a host's desk that it asks; of the VM there is its end alone. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@SuppressWarnings("NullAway.Init") // set before all and each
class AgentctlJobStepTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";

    /** The machine's own, which is called there as it is here. */
    private static Path folder;

    private static CgroupSlurm slurm;
    private static Path agentctl;
    private static Path socket;

    private FakeHostOperations work;
    private ControlServer server;

    @BeforeAll
    static void setUp() throws IOException {
        slurm = CgroupSlurm.start();
        folder = Files.createDirectories(slurm.machine().folder().resolve("desk"));
        socket = folder.resolve("s");
        agentctl = Files.writeString(folder.resolve("agentctl"), """
                #!/bin/sh
                exec %s -Xmx32m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp %s org.cloister.ctl.Agentctl "$@" \
                --socket %s
                """.formatted(
                        slurm.machine().sandbox().java(), System.getProperty("java.class.path"), socket));
        Files.setPosixFilePermissions(agentctl, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterAll
    static void tearDown() throws IOException {
        slurm.close();
    }

    @BeforeEach
    void open() throws IOException {
        work = new FakeHostOperations();
        server = desk();
    }

    @AfterEach
    void leave_nothing() throws IOException {
        slurm.machine().command("scancel", "--user=root").run();
        Poll.until(
                "no job",
                LIMIT,
                "read slurmctld's log",
                () -> slurm.machine().command("squeue", "-h").succeed().isBlank());
        server.close();
    }

    private ControlServer desk() throws IOException {
        return ControlServer.open(socket, "root", "root", CallerJobLookup.fromCgroups(CgroupJobStep.NUMBERED), work);
    }

    /** As the relay's job does it. @return its number */
    private static long submit() throws IOException {
        return Long.parseLong(slurm.machine()
                .command(
                        "sbatch",
                        "--parsable",
                        "--job-name=" + TICKET,
                        "--chdir=/",
                        "--output=" + folder.resolve("said"),
                        "--ntasks=1",
                        "--mem=200",
                        "--wrap=exec srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --mem=0 --kill-on-bad-exit=1 "
                                + agentctl + " host run " + TICKET)
                .succeed()
                .strip());
    }

    private static void awaitEnd(long job, String state, String exit) throws IOException {
        Poll.until(
                "job " + job + ": " + state + " " + exit,
                LIMIT,
                "read slurmctld's log",
                () -> slurm.machine()
                        .command("scontrol", "show", "job", Long.toString(job))
                        .succeed()
                        .matches("(?s).*JobState=" + state + " .*ExitCode=" + exit + "\\s.*"));
    }

    private static List<String> output() throws IOException {
        return Files.readAllLines(folder.resolve("said"));
    }

    @Test
    void the_desk_knows_whose_step_calls_and_the_job_ends_as_the_vm_does() throws Exception {
        long job = submit();
        JobStepCaller caller = work.awaitCallers(1).get(0);
        assertThat(caller.job()).isEqualTo(job);
        assertThat(caller.pid()).isEqualTo(slurm.task(job));
        report(caller.pid());
        work.powerOff(TICKET);
        awaitEnd(job, "COMPLETED", "0:0");
        assertThat(output()).last().isEqualTo("end      done: the guest powered off");
    }

    /** What waits for a VM counts in the step's memory, as the VM does. */
    private static void report(long pid) throws IOException {
        Files.readAllLines(Path.of("/proc", Long.toString(pid), "status")).stream()
                .filter(line -> line.startsWith("VmRSS") || line.startsWith("RssAnon") || line.startsWith("Threads"))
                .forEach(line -> System.out.println("agentctl host run: " + line));
    }

    @Test
    void a_vm_that_an_operator_stops_fails_its_job_with_a_status_of_its_own() throws Exception {
        long job = submit();
        work.awaitCallers(1);
        work.stop(TICKET);
        awaitEnd(job, "FAILED", "3:0");
        assertThat(output()).anyMatch(line -> line.startsWith("agentctl: error: ticket " + TICKET + " (gone): the VM"));
    }

    @Test
    void a_cancelled_job_asks_its_vm_to_end_and_waits_for_it() throws Exception {
        long job = submit();
        work.awaitCallers(1);
        slurm.cancel(job);
        assertThat(work.awaitEnd(TICKET).code()).isEqualTo(VmRunCode.STOPPED);
        Poll.until(
                "agentctl's last words",
                LIMIT,
                "read " + folder.resolve("said"),
                () -> output().contains("end      stopped: the VM was stopped"));
    }

    @Test
    void a_step_that_is_killed_ends_its_vm() throws Exception {
        long job = submit();
        work.awaitCallers(1);
        slurm.machine().command("scancel", "--signal=KILL", Long.toString(job)).succeed();
        assertThat(work.awaitEnd(TICKET).code()).isEqualTo(VmRunCode.STOPPED);
    }

    @Test
    void the_step_and_its_vm_outlast_a_daemon_that_is_started_anew() throws Exception {
        long job = submit();
        work.awaitCallers(1);
        server.close();
        server = desk();
        List<JobStepCaller> callers = work.awaitCallers(2);
        assertThat(callers.get(1)).isEqualTo(callers.get(0));
        work.powerOff(TICKET);
        awaitEnd(job, "COMPLETED", "0:0");
    }

    @Test
    void who_is_in_no_step_is_refused() throws IOException {
        var refused = slurm.machine()
                .command(agentctl.toString(), "host", "run", TICKET)
                .run();
        assertThat(refused.exit()).isEqualTo(4);
        assertThat(refused.err()).contains("the caller is in no cgroup of a Slurm step");
        assertThat(work.ledger()).isEmpty();
        assertThat(slurm.machine().command(agentctl.toString(), "host", "vms").succeed())
                .isEmpty();
    }
}
