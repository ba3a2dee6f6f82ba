package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.GlobalJobQuery;
import org.cloister.host.slurmstep.JobStepEnded;
import org.cloister.host.slurmstep.NotInJobStep;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A step of the real Slurm with cgroups: who calls, what it was given, and that it holds a QEMU that was not its own. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@RotatedScenario(8)
class CgroupStepTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final String DOMAIN = "cloister-czgfrtu36vggs2hc-0";
    private static final String OTHER = "dzgfrtu36vggs2hcwyj6cdtzvu";
    private static final int KILLED = 137;
    private static final long MIB = 1 << 20;

    private static CgroupSlurm slurm;

    /** In the machine, and in no step. */
    private final List<Process> beside = new ArrayList<>();

    @BeforeAll
    static void setUp() throws IOException {
        slurm = CgroupSlurm.start();
    }

    @AfterAll
    static void tearDown() throws IOException {
        slurm.close();
    }

    @AfterEach
    void leave_nothing() throws IOException, InterruptedException {
        for (Process each : beside) {
            each.descendants().forEach(ProcessHandle::destroyForcibly);
            each.destroyForcibly().waitFor();
        }
        slurm.machine().command("scancel", "--user=root").run();
        Poll.until(
                "no job",
                LIMIT,
                "read slurmctld's log",
                () -> slurm.machine().command("squeue", "-h").succeed().isBlank());
    }

    @Test
    void the_kernel_says_whose_call_it_is_and_what_was_given() throws IOException {
        long job = slurm.submit(TICKET, 500);
        StepCgroup step = StepCgroup.of(slurm.task(job), CgroupJobStep.NUMBERED);
        assertThat(step.job()).isEqualTo(job);
        assertThat(step.step()).isEqualTo(job + ".0");
        assertThat(step.allocation().cpus().orElseThrow().numbers()).hasSize(1);
        assertThat(step.allocation().node()).hasValue(0);
        assertThat(step.allocation().memoryBytes()).hasValue(500 * MIB);
        assertThatThrownBy(() -> StepCgroup.of(ProcessHandle.current().pid(), CgroupJobStep.NUMBERED))
                .isInstanceOf(NotInJobStep.class)
                .hasMessageContaining("start it with srun");
    }

    @Test
    void a_paused_qemu_ends_with_the_step_that_it_was_moved_into() throws IOException {
        long job = slurm.submit(TICKET, 500);
        StepCgroup step = StepCgroup.of(slurm.task(job), CgroupJobStep.NUMBERED);
        long qemu = qemu();
        assertThat(step.contains(qemu)).isFalse();
        step.attach(CgroupAttacher.DIRECT, DOMAIN, qemu);
        assertThat(step.contains(qemu)).isTrue();
        step.attach(CgroupAttacher.DIRECT, DOMAIN, qemu);
        assertThat(ProcessHandle.of(qemu)).isPresent();
        slurm.cancel(job);
        slurm.awaitEnd(qemu);
        Poll.until("the step's end", LIMIT, "read slurmd's log", () -> !step.exists());
    }

    @Test
    void the_steps_memory_limit_holds_for_what_is_in_it() throws IOException, InterruptedException {
        long job = slurm.submit(TICKET, 100);
        StepCgroup step = StepCgroup.of(slurm.task(job), CgroupJobStep.NUMBERED);
        Process hog = start("sh", "-c", "read go; all=$(head -c 300m /dev/zero | tr '\\0' x); echo ${#all}");
        step.attach(CgroupAttacher.DIRECT, DOMAIN, inside(hog));
        try (OutputStream in = hog.getOutputStream()) {
            in.write("go\n".getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(hog.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(hog.exitValue()).isEqualTo(KILLED);
    }

    @Test
    void a_step_that_has_ended_takes_nothing() throws IOException {
        long job = slurm.submit(TICKET, 100);
        long task = slurm.task(job);
        StepCgroup step = StepCgroup.of(task, CgroupJobStep.NUMBERED);
        long qemu = qemu();
        slurm.cancel(job);
        slurm.awaitEnd(task);
        Poll.until("the step's end", LIMIT, "read slurmd's log", () -> !step.exists());
        assertThatThrownBy(() -> step.attach(CgroupAttacher.DIRECT, DOMAIN, qemu))
                .isInstanceOf(JobStepEnded.class)
                .hasMessageContaining(job + ".0");
        assertThatThrownBy(() -> StepCgroup.of(task, CgroupJobStep.NUMBERED)).isInstanceOf(JobStepEnded.class);
        assertThat(ProcessHandle.of(qemu)).isPresent();
    }

    @Test
    void slurm_says_whether_a_job_is_the_tickets_and_runs_here() throws IOException {
        long job = slurm.submit(TICKET, 100);
        slurm.task(job);
        assertThat(jobs("root", slurm.node()).isTicketJob(job, TICKET)).isTrue();
        assertThat(jobs("root", slurm.node()).isTicketJob(job + 1, TICKET)).isFalse();
        assertThat(jobs("root", slurm.node()).isTicketJob(job, OTHER)).isFalse();
        assertThat(jobs("daemon", slurm.node()).isTicketJob(job, TICKET)).isFalse();
        slurm.machine().signal("slurmctld", "STOP");
        try {
            GlobalJobQuery query = jobs("root", slurm.node());
            assertThatThrownBy(() -> query.isTicketJob(job, TICKET)).isInstanceOf(SlurmUnavailableException.class);
        } finally {
            slurm.machine().signal("slurmctld", "CONT");
        }
        slurm.cancel(job);
        Poll.until(
                "its end",
                LIMIT,
                "read slurmctld's log",
                () -> !jobs("root", slurm.node()).isTicketJob(job, TICKET));
    }

    private static GlobalJobQuery jobs(String account, String node) throws IOException {
        Path programs = SlurmCommandWrappers.install(slurm.machine()).folder();
        return new GlobalJobQuery(
                new SlurmCommand(Optional.of(programs), Optional.empty(), Duration.ofSeconds(3)), account, node);
    }

    /** With all of its threads, none of which has run a guest's instruction. */
    private long qemu() throws IOException {
        long pid = inside(start(
                "qemu-system-x86_64",
                "-S",
                "-machine",
                "q35",
                "-accel",
                "tcg,thread=multi",
                "-smp",
                "2",
                "-m",
                "64",
                "-display",
                "none",
                "-nodefaults"));
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        Poll.until("QEMU's threads", LIMIT, "run it by hand", () -> {
            try (Stream<Path> threads = Files.list(tasks)) {
                return threads.count() >= List.of("main", "cpu", "cpu").size();
            }
        });
        return pid;
    }

    private Process start(String... argv) throws IOException {
        Process process = new ProcessBuilder(slurm.machine().command(argv).argv()).start();
        beside.add(process);
        return process;
    }

    /** nsenter's child, as it is named outside of the machine. */
    private static long inside(Process entered) throws IOException {
        Poll.until(
                "a process of the machine",
                LIMIT,
                "run it by hand",
                () -> entered.children().findFirst().isPresent());
        return entered.children().findFirst().orElseThrow().pid();
    }
}
