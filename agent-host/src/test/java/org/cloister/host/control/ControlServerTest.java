package org.cloister.host.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.cloister.host.slurmstep.NotInJobStep;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ControlServerTest {
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final String RUN = "{\"request\":\"run\",\"ticket\":\"" + TICKET + "\",\"again\":false}";
    private static final String REATTACH = RUN.replace("false", "true");
    private static final String STATUS = "{\"request\":\"status\"}";
    private static final long JOB = 4711;
    private static final int UNKNOWN_UID = 65_534;

    @TempDir
    private Path folder;

    private final FakeHostOperations work = new FakeHostOperations();
    private final List<ControlClientProcess> callers = new ArrayList<>();
    private int me;
    private Path socket;
    private ControlServer server;

    @BeforeEach
    void open() throws IOException {
        me = (Integer) Files.getAttribute(folder, "unix:uid");
        socket = folder.resolve("s");
        server = ControlServer.open(socket, new CallerAuthorization(OptionalInt.of(group()), me), this::jobOf, work);
    }

    @AfterEach
    void close() throws IOException {
        for (ControlClientProcess each : callers) {
            each.close();
        }
        server.close();
        assertThat(socket).doesNotExist();
    }

    private static final CallerJobLookup FROM_CGROUPS = CallerJobLookup.fromCgroups(sluid -> {
        throw new AssertionError(sluid);
    });

    private int group() throws IOException {
        return (Integer) Files.getAttribute(folder, "unix:gid");
    }

    /** The test's children are in its job, and nobody else is in one. */
    private long jobOf(long pid) throws IOException {
        boolean ours = callers.stream().anyMatch(each -> each.pid() == pid);
        return ours ? JOB : FROM_CGROUPS.jobOf(pid);
    }

    private ControlClientProcess caller(String... as) throws IOException {
        ControlClientProcess caller = ControlClientProcess.start(socket, as);
        callers.add(caller);
        return caller;
    }

    private String ask(String request) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            channel.write(ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8)));
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
            return String.valueOf(answer.readLine());
        }
    }

    @Test
    void a_job_step_hears_of_its_vm_until_the_guest_powers_off() throws Exception {
        ControlClientProcess caller = caller().send(RUN);
        assertThat(caller.receive()).isEqualTo("{\"phase\":{\"name\":\"job\",\"ms\":7}}");
        assertThat(caller.receive()).isEqualTo("{\"phase\":{\"name\":\"ticket\",\"ms\":7}}");
        assertThat(caller.receive()).isEqualTo("{\"phase\":{\"name\":\"running\",\"ms\":7}}");
        assertThat(work.awaitCallers(1)).containsExactly(new JobStepCaller(caller.pid(), me, JOB));
        work.powerOff(TICKET);
        assertThat(caller.remaining())
                .containsExactly("{\"end\":{\"code\":\"done\",\"phase\":\"gone\","
                        + "\"text\":\"the guest powered off\",\"hint\":\"\"}}");
    }

    @Test
    void a_vm_ends_when_who_waits_for_it_says_so() throws Exception {
        ControlClientProcess caller = caller().send(RUN);
        work.awaitCallers(1);
        caller.send("{\"request\":\"stop\"}");
        assertThat(caller.remaining()).hasSize(4).last().asString().contains("\"code\":\"stopped\"");
    }

    @Test
    void a_vm_ends_when_who_waits_for_it_is_killed() throws Exception {
        ControlClientProcess caller = caller().send(RUN);
        work.awaitCallers(1);
        caller.kill();
        assertThat(work.awaitEnd(TICKET).code()).isEqualTo(VmRunCode.STOPPED);
    }

    @Test
    void a_vm_ends_when_who_waits_for_it_says_anything_else() throws Exception {
        ControlClientProcess caller = caller().send(RUN);
        work.awaitCallers(1);
        caller.send(STATUS);
        assertThat(work.awaitEnd(TICKET).code()).isEqualTo(VmRunCode.STOPPED);
        assertThat(caller.remaining()).anyMatch(line -> line.contains("expected stop after run"));
    }

    @Test
    void a_vm_outlasts_the_desk_and_its_caller_waits_on_at_the_next_one() throws Exception {
        ControlClientProcess caller = caller().send(RUN);
        work.awaitCallers(1);
        server.close();
        assertThat(caller.remaining()).hasSize(3);
        server = ControlServer.open(socket, new CallerAuthorization(OptionalInt.empty(), me), this::jobOf, work);
        ControlClientProcess other = caller().send(REATTACH);
        work.awaitCallers(2);
        work.powerOff(TICKET);
        assertThat(other.remaining()).hasSize(1).first().asString().contains("\"code\":\"done\"");
        assertThat(caller().send(REATTACH).remaining())
                .hasSize(1)
                .first()
                .asString()
                .contains("\"code\":\"done\"");
    }

    @Test
    void a_second_step_of_a_ticket_is_refused_and_the_first_goes_on() throws Exception {
        caller().send(RUN);
        work.awaitCallers(1);
        assertThat(caller().send(RUN).remaining())
                .containsExactly("{\"refused\":{\"text\":\"ticket " + TICKET
                        + ": want one without a VM, have the VM of job 4711\",\"hint\":\"submit the job again\"}}");
        assertThat(work.vms()).hasSize(1);
    }

    @Test
    void who_is_in_no_step_of_slurms_runs_nothing() throws IOException {
        // This process itself, which the kernel has in no step.
        assertThatThrownBy(() -> FROM_CGROUPS.jobOf(ProcessHandle.current().pid()))
                .isInstanceOf(NotInJobStep.class);
        assertThat(ask(RUN)).startsWith("{\"refused\":").contains("the caller is in no cgroup of a Slurm step");
        assertThat(work.ledger()).isEmpty();
    }

    @Test
    void operators_see_the_host_its_vms_and_its_ledger_and_stop_a_vm() throws Exception {
        caller().send(RUN);
        work.awaitCallers(1);
        String uuid = work.vms().get(0).owner().uuid();
        String vm = "\"vm\":\"cloister-czgfrtu36vggs2hc-0\",\"uuid\":\"" + uuid + "\",\"project\":\"" + "p".repeat(51)
                + "a\",\"ticket\":\"" + TICKET + "\",\"slot\":0,\"job\":4711,";
        assertThat(ask(STATUS))
                .isEqualTo("{\"answer\":{\"host\":\"n1.host.site.cloister.internal\",\"takes_work\":false,"
                        + "\"why_not\":\"the bridge is away\",\"parts\":["
                        + "{\"name\":\"relay\",\"there\":true,\"text\":\"r1\"},"
                        + "{\"name\":\"bridge\",\"there\":false,\"text\":\"no such file\"}],"
                        + "\"starting\":0,\"running\":1,\"ending\":0,\"strays\":[\"tap cl-aaaaaaaa0\"],"
                        + "\"troubles\":[],\"looked_seconds\":3}}");
        assertThat(ask("{\"request\":\"vms\"}"))
                .isEqualTo("{\"answer\":{\"vms\":[{" + vm + "\"state\":\"running\",\"cpus\":2,\"memory_mib\":512,"
                        + "\"vlan\":103,\"address\":\"10.64.12.2\",\"since\":\"2026-11-22T10:00:00Z\"}]}}");
        assertThat(ask("{\"request\":\"render\",\"what\":\"" + uuid + "\"}"))
                .isEqualTo("{\"answer\":{\"xml\":\"<domain>\\n  <uuid>" + uuid + "</uuid>\\n</domain>\\n\","
                        + "\"ports\":[\"cl-czgfrtu30 tag=103\"],\"flows\":[\"table=0,priority=1,actions=drop\"]}}");
        assertThat(ask("{\"request\":\"stop\",\"vm\":\"" + uuid + "\"}"))
                .isEqualTo("{\"answer\":{\"vm\":\"" + uuid + "\",\"stopping\":true}}");
        assertThat(work.awaitEnd(TICKET).code()).isEqualTo(VmRunCode.STOPPED);
        assertThat(ask("{\"request\":\"ledger\"}"))
                .isEqualTo("{\"answer\":{\"entries\":[{" + vm
                        + "\"scratch\":true,\"claimed\":\"2026-11-22T10:00:00Z\",\"step\":\"running\",\"end\":{"
                        + "\"why\":\"not-registered\",\"at\":\"domain_paused\",\"time\":\"2026-11-22T10:00:01.500Z\"}"
                        + "}]}}");
        assertThat(ask("{\"request\":\"stop\",\"vm\":\"" + uuid + "\"}"))
                .contains("this host has no VM named ", "\"hint\":\"agentctl host vms lists them\"");
    }

    @Test
    void what_is_no_request_is_refused_and_says_why() throws IOException {
        assertThat(ask("status")).contains("not a JSON document");
        assertThat(ask("{\"request\":\"halt\"}")).contains("expected run, status, vms, ledger, stop or render");
        assertThat(ask("{\"request\":\"status\",\"vm\":\"x\"}")).contains("vm: unknown key");
        assertThat(ask("{\"request\":\"status\",\"request\":\"vms\"}")).contains("Duplicate field");
        assertThat(ask("{\"request\":\"stop\",\"vm\":\"../x\"}")).contains("vm: want [a-z0-9-]");
        assertThat(ask("{\"request\":\"run\",\"ticket\":\"a\",\"again\":false}"))
                .contains("ticket: want ");
        assertThat(ask("{\"request\":\"run\",\"ticket\":\"" + TICKET + "\"}")).contains("again: missing");
        assertThat(ask(" ".repeat(ControlConnection.MAX_LINE + 1))).contains("want at most 4096 bytes");
        assertThat(ask(STATUS)).startsWith("{\"answer\":");
    }

    @Test
    void other_users_are_not_even_read() throws Exception {
        assumeTrue(me == 0, "only root becomes another user");
        open(folder);
        String[] unknownUid = {"setpriv", "--reuid=" + UNKNOWN_UID, "--regid=" + UNKNOWN_UID, "--clear-groups"};
        // Nothing is said, and the answer comes.
        assertThat(caller(unknownUid).remaining())
                .hasSize(1)
                .first()
                .asString()
                .contains("user 65534 may not use agent-host");
        String[] member = {"setpriv", "--reuid=" + UNKNOWN_UID, "--regid=" + UNKNOWN_UID, "--groups=" + (group() + 4242)
        };
        server.close();
        server = ControlServer.open(
                socket, new CallerAuthorization(OptionalInt.of(group() + 4242), me), this::jobOf, work);
        assertThat(caller(member).send(STATUS).remaining())
                .hasSize(1)
                .first()
                .asString()
                .startsWith("{\"answer\":");
        assertThat(caller(member).send(RUN).remaining())
                .hasSize(1)
                .first()
                .asString()
                .contains("user 65534 may not run VMs: only job steps of user 0 may");
        server.close();
        server = ControlServer.open(
                socket, new CallerAuthorization(OptionalInt.empty(), UNKNOWN_UID), this::jobOf, work);
        assertThat(caller(unknownUid).send(STATUS).remaining())
                .hasSize(1)
                .first()
                .asString()
                .contains("only root and members of its group");
        ControlClientProcess runner = caller(unknownUid).send(RUN);
        assertThat(work.awaitCallers(1)).containsExactly(new JobStepCaller(runner.pid(), UNKNOWN_UID, JOB));
    }

    /** For users that may reach nothing else here. */
    private static void open(Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void a_socket_that_a_dead_process_left_is_replaced_and_a_living_ones_is_not() throws IOException {
        assertThatThrownBy(() ->
                        ControlServer.open(socket, new CallerAuthorization(OptionalInt.empty(), me), this::jobOf, work))
                .hasMessageContaining("another process listens on it");
        assertThat(ask(STATUS)).startsWith("{\"answer\":");
        Path left = folder.resolve("left");
        ControlSocket.listen(left).stop();
        assertThat(left).exists();
        ControlServer.open(left, new CallerAuthorization(OptionalInt.empty(), me), this::jobOf, work)
                .close();
    }

    @Test
    void users_and_groups_are_found_by_their_names() throws IOException {
        assertThat(SystemAccounts.user("root")).isZero();
        assertThat(SystemAccounts.group("root")).isZero();
        assertThat(SystemAccounts.user("nobody")).isEqualTo(UNKNOWN_UID);
        assertThatThrownBy(() -> SystemAccounts.user("no-such-user"))
                .hasMessageContaining("user no-such-user does not exist");
        assertThatThrownBy(() -> SystemAccounts.group("no-such-group"))
                .hasMessageContaining("group no-such-group does not exist");
    }

    /** The number of its socket is another file's by then. */
    @Test
    void a_server_that_is_closed_twice_closes_nothing_of_others() throws IOException {
        server.close();
        try (var other = Files.newInputStream(Files.writeString(folder.resolve("other"), "x"))) {
            server.close();
            assertThat(other.read()).isEqualTo('x');
        }
    }

    @Test
    void a_hundred_callers_one_after_another_leave_no_file_open() throws IOException {
        ask(STATUS);
        long before = files();
        for (int i = 0; i < 100; i++) {
            assertThat(ask(STATUS)).startsWith("{\"answer\":");
        }
        // The last one's thread may not have closed its own yet, and the JVM opens and closes some for itself.
        assertThat(files()).isLessThan(before + 50);
    }

    private static long files() throws IOException {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }
}
