package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.URISyntaxException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.host.daemon.AgentHostRootClient;
import org.cloister.host.slurmstep.JobStepEnded;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.lab.LabCommand;
import org.cloister.lab.Poll;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.slurm.LogText;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The package's script, and who asks it: what a user without rights gets into a real step's cgroups, and nothing else. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@SuppressWarnings("NullAway.Init") // set before all
class HostRootProgramTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final String DOMAIN = "cloister-czgfrtu36vggs2hc-0";
    /** Nobody's. */
    private static final String USER = "61234";

    private static CgroupSlurm slurm;
    private static RootSocket socket;

    private final List<Process> qemus = new ArrayList<>();

    @BeforeAll
    static void setUp() throws IOException {
        slurm = CgroupSlurm.start();
        socket = RootSocket.forSteps(slurm);
    }

    @AfterAll
    static void tearDown() throws IOException {
        socket.close();
        slurm.close();
    }

    @AfterEach
    void leave_nothing() throws IOException, InterruptedException {
        for (Process each : qemus) {
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

    /** Paused, of another user than root, as libvirt starts it; libvirt's own cgroups are off. */
    private long qemu(String domain) throws IOException {
        Process entered = new ProcessBuilder(slurm.machine()
                        .command(
                                "setpriv",
                                "--reuid=61235",
                                "--regid=61235",
                                "--clear-groups",
                                "qemu-system-x86_64",
                                "-S",
                                "-name",
                                "guest=" + domain + ",debug-threads=on",
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
                                "-nodefaults")
                        .argv())
                .redirectErrorStream(true)
                .redirectOutput(slurm.machine().log("qemu").toFile())
                .start();
        qemus.add(entered);
        String log = "read " + slurm.machine().log("qemu");
        Poll.until(
                "a process of the machine",
                LIMIT,
                log,
                () -> entered.children().findFirst().isPresent());
        long pid = entered.children().findFirst().orElseThrow().pid();
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        Poll.until("QEMU's threads", LIMIT, log, () -> {
            try (Stream<Path> threads = Files.list(tasks)) {
                return threads.count() >= List.of("main", "cpu", "cpu").size();
            }
        });
        socket.write(domain, pid);
        return pid;
    }

    private static AgentHostRootClient part() {
        return new AgentHostRootClient(socket.path(), Duration.ofSeconds(20));
    }

    @Test
    void a_user_without_rights_has_a_vm_moved_into_its_callers_step(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        long job = slurm.submit(TICKET, 200);
        long caller = slurm.task(job);
        long qemu = qemu(DOMAIN);
        String output = LabCommand.of(
                        "setpriv",
                        "--reuid=" + USER,
                        "--regid=" + USER,
                        "--clear-groups",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        readable(
                                folder,
                                StepProgram.class,
                                AgentHostRootClient.class,
                                LogText.class,
                                MountedFileSystem.class),
                        StepProgram.class.getName(),
                        socket.path().toString(),
                        Long.toString(caller),
                        DOMAIN,
                        Long.toString(qemu))
                .succeed();
        System.out.print(output);
        assertThat(output).containsPattern("itself: process " + qemu + ": not moved into step " + job + ".0: ");
        assertThat(output).containsPattern("root part: taken after ");
        assertThat(StepCgroup.of(caller, CgroupJobStep.NUMBERED).contains(qemu)).isTrue();
        slurm.cancel(job);
        slurm.awaitEnd(qemu);
    }

    /** A class path that any user may read. */
    private static String readable(Path folder, Class<?>... of) throws IOException, URISyntaxException {
        List<String> path = new ArrayList<>();
        for (Class<?> each : of) {
            Path from = Path.of(
                    each.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path to = folder.resolve(Integer.toString(path.size()));
            LabCommand.of("cp", "-r", from.toString(), to.toString()).succeed();
            LabCommand.of("chmod", "-R", "a+rX", to.toString()).succeed();
            path.add(to.toString());
        }
        return String.join(File.pathSeparator, path);
    }

    @Test
    void nothing_is_moved_for_who_is_in_no_step() throws IOException {
        long qemu = qemu(DOMAIN);
        String before = places(qemu);
        assertThatThrownBy(() ->
                        part().attach(DOMAIN, qemu, ProcessHandle.current().pid(), List.of()))
                .hasMessageContaining(
                        "refused process " + ProcessHandle.current().pid() + ": want it in a step");
        assertThat(places(qemu)).isEqualTo(before);
    }

    /** A cgroup that is called as Slurm's, but lies elsewhere. */
    @Test
    void a_cgroup_that_is_not_slurms_takes_nobody() throws IOException, InterruptedException {
        long qemu = qemu(DOMAIN);
        Path top = Path.of("/sys/fs/cgroup/memory/lab_" + slurm.node());
        Path odd = Files.createDirectories(top.resolve("slurm/uid_0/job_1/step_0"));
        Process caller = new ProcessBuilder("sleep", "600").start();
        try {
            Files.writeString(odd.resolve("cgroup.procs"), Long.toString(caller.pid()));
            assertThatThrownBy(() -> part().attach(DOMAIN, qemu, caller.pid(), List.of()))
                    .hasMessageContaining("want it in a step of Slurm's, have it in none");
            assertThat(places(qemu)).doesNotContain("job_1");
        } finally {
            caller.destroyForcibly().waitFor();
            for (String each : List.of("slurm/uid_0/job_1/step_0", "slurm/uid_0/job_1", "slurm/uid_0", "slurm", "")) {
                Path made = top.resolve(each);
                Poll.until(
                        "an empty cgroup",
                        LIMIT,
                        "rmdir " + made,
                        () -> made.toFile().delete());
            }
        }
    }

    @Test
    void a_process_that_is_not_the_domains_qemu_stays_where_it_is() throws IOException, InterruptedException {
        long caller = slurm.task(slurm.submit(TICKET, 200));
        Process other = new ProcessBuilder("sleep", "600").start();
        try {
            socket.write(DOMAIN, other.pid());
            assertThatThrownBy(() -> part().attach(DOMAIN, other.pid(), caller, List.of()))
                    .hasMessageContaining("want QEMU of domain " + DOMAIN + ", have none");
            long qemu = qemu("cloister-czgfrtu36vggs2hc-1");
            socket.write(DOMAIN, qemu);
            assertThatThrownBy(() -> part().attach(DOMAIN, qemu, caller, List.of()))
                    .hasMessageContaining("want QEMU of domain " + DOMAIN + ", have none");
            assertThat(StepCgroup.of(caller, CgroupJobStep.NUMBERED).contains(qemu))
                    .isFalse();
            assertThat(StepCgroup.of(caller, CgroupJobStep.NUMBERED).contains(other.pid()))
                    .isFalse();
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void a_step_that_has_ended_is_no_fault_of_the_host() throws IOException {
        long job = slurm.submit(TICKET, 200);
        long caller = slurm.task(job);
        StepCgroup step = StepCgroup.of(caller, CgroupJobStep.NUMBERED);
        long qemu = qemu(DOMAIN);
        slurm.cancel(job);
        slurm.awaitEnd(caller);
        assertThatThrownBy(() -> step.attach(part(), DOMAIN, qemu)).isInstanceOf(JobStepEnded.class);
        assertThat(ProcessHandle.of(qemu)).isPresent();
    }

    @Test
    void odd_lines_are_refused_and_run_nothing(@TempDir Path folder) throws IOException {
        Path made = folder.resolve("made");
        List<String> lines = List.of(
                "",
                "take",
                "take " + DOMAIN,
                "take " + DOMAIN + " 0",
                "take " + DOMAIN + " -1",
                "take " + DOMAIN + " 1 2",
                "take ../../" + DOMAIN + " 1",
                "take " + DOMAIN + "\n 1",
                "take " + DOMAIN + " 1\ndrain x",
                "take " + DOMAIN + " $(touch " + made + ")",
                "TAKE " + DOMAIN + " 1",
                "drain",
                "drain " + "x",
                "drain cloister: a\" state=down (20260101T000000Z until clean 12345678)",
                "drain cloister: $(touch " + made + ") (20260101T000000Z until clean 12345678)",
                "resume",
                "resume none",
                "replace",
                "replace none",
                "ticket 1",
                "ticket 0 " + TICKET,
                "ticket 1 " + TICKET + "x",
                "ticket $(touch " + made + ") " + TICKET,
                "number 1",
                "number sEKNKTV3WPV50;",
                "x".repeat(4000));
        for (String each : lines) {
            assertThat(raw(each)).as(each).startsWith("refused want take, drain, resume, replace, ticket or number");
        }
        assertThat(made).doesNotExist();
        assertThat(slurm.machine()
                        .command("sinfo", "-h", "-o", "%T %E")
                        .succeed()
                        .strip())
                .isEqualTo("idle none");
    }

    private static String raw(String request) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket.path()));
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            channel.shutdownOutput();
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private static String places(long pid) throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(pid), "cgroup"));
    }
}
