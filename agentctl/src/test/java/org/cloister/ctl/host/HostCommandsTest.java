package org.cloister.ctl.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.cloister.ctl.Agentctl;
import org.cloister.ctl.Cli;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class HostCommandsTest {
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final String RUN = "{\"request\":\"run\",\"ticket\":\"" + TICKET + "\",\"again\":false}";
    private static final String AGAIN = RUN.replace("false", "true");
    private static final String JOB = "{\"phase\":{\"name\":\"job\",\"ms\":12}}";
    private static final String RUNNING = "{\"phase\":{\"name\":\"running\",\"ms\":480}}";
    private static final String DONE =
            "{\"end\":{\"code\":\"done\",\"phase\":\"gone\",\"text\":\"the guest powered off\",\"hint\":\"\"}}";
    private static final String VM = "{\"vm\":\"cloister-czgfrtu36vggs2hc-0\",\"uuid\":\"u\",\"project\":\"p\","
            + "\"ticket\":\"" + TICKET + "\",\"slot\":0,\"job\":4711,";

    @TempDir
    private Path folder;

    private Path socket;
    private LoopbackAgentHost host;
    private Cli cli;

    @BeforeEach
    void setUp() throws IOException {
        socket = folder.resolve("s");
        host = new LoopbackAgentHost(socket);
        cli = new Cli(folder, "unused");
    }

    @AfterEach
    void tearDown() throws IOException {
        cli.close();
        host.close();
    }

    private CompletableFuture<Cli.Result> running(String... arguments) {
        String[] all = new String[arguments.length + 3];
        all[0] = "host";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[arguments.length + 1] = "--socket";
        all[arguments.length + 2] = socket.toString();
        return CompletableFuture.supplyAsync(() -> {
            try {
                return cli.run(all);
            } catch (IOException e) {
                throw new CompletionException(e);
            }
        });
    }

    private Cli.Result query(String request, String answer, String... arguments) throws IOException {
        CompletableFuture<Cli.Result> result = running(arguments);
        try (LoopbackAgentHost.Call call = host.accept()) {
            assertThat(call.receive()).isEqualTo(request);
            call.send(answer);
            return result.join();
        }
    }

    @Test
    void status_says_what_the_host_lacks_and_exits_so() throws IOException {
        String answer = "{\"answer\":{\"host\":\"n1.host.site.cloister.internal\",\"takes_work\":false,"
                + "\"why_not\":\"the bridge is away\",\"parts\":[{\"name\":\"relay\",\"there\":true,\"text\":\"\"},"
                + "{\"name\":\"bridge\",\"there\":false,\"text\":\"no such file\"}],\"starting\":1,\"running\":2,"
                + "\"ending\":0,\"strays\":[\"tap cl-aaaaaaaa0\"],\"troubles\":[\"libvirt gave no answer\"],"
                + "\"looked_seconds\":3}}";
        Cli.Result away = query("{\"request\":\"status\"}", answer, "status");
        assertThat(away.status()).isEqualTo(2);
        assertThat(away.out()).isEqualTo("""
                host          n1.host.site.cloister.internal
                accepts work  no: the bridge is away
                relay         available
                bridge        missing: no such file
                starting      1
                running       2
                ending        0
                orphan        tap cl-aaaaaaaa0
                failure       libvirt gave no answer
                last check    3 s ago
                """);
        Cli.Result well =
                query("{\"request\":\"status\"}", answer.replace("false,\"why_not\"", "true,\"was\""), "status");
        assertThat(well.status()).isZero();
        assertThat(well.out()).contains("accepts work  yes\n");
    }

    @Test
    void vms_and_the_ledger_are_tables_or_documents() throws IOException {
        String vms = "{\"answer\":{\"vms\":[" + VM + "\"state\":\"ending\",\"cpus\":2,\"memory_mib\":512,\"vlan\":103,"
                + "\"address\":\"10.64.12.2\",\"since\":\"2026-11-22T10:00:00Z\",\"end\":\"step-gone\"}]}}";
        assertThat(query("{\"request\":\"vms\"}", vms, "vms").out())
                .isEqualTo("cloister-czgfrtu36vggs2hc-0  ending: step-gone  job 4711  2 CPUs, 512 MiB"
                        + "  VLAN 103, 10.64.12.2  since 2026-11-22T10:00:00Z\n");
        assertThat(query("{\"request\":\"vms\"}", vms, "vms", "-o", "json").out())
                .contains("\"memory_mib\" : 512");
        String ledger = "{\"answer\":{\"entries\":[" + VM + "\"scratch\":true,\"claimed\":\"2026-11-22T10:00:00Z\","
                + "\"step\":\"tap\",\"end\":{\"why\":\"failed\",\"at\":\"port\",\"time\":\"2026-11-22T10:00:01Z\"}}]}}";
        assertThat(query("{\"request\":\"ledger\"}", ledger, "ledger").out())
                .isEqualTo("cloister-czgfrtu36vggs2hc-0  u  job 4711  tap  claimed 2026-11-22T10:00:00Z"
                        + "  ends: failed at port, 2026-11-22T10:00:01Z\n");
    }

    @Test
    void a_vm_is_rendered_line_by_line_and_stopped_by_its_name() throws IOException {
        Cli.Result rendered = query(
                "{\"request\":\"render\",\"what\":\"" + TICKET + "\"}",
                "{\"answer\":{\"xml\":\"<domain>\\n  <name>x</name>\\n</domain>\\n\",\"ports\":[\"cl-a0 tag=103\"],"
                        + "\"flows\":[\"table=0,actions=drop\"]}}",
                "render",
                TICKET);
        assertThat(rendered.out())
                .isEqualTo("<domain>\n  <name>x</name>\n</domain>\nport: cl-a0 tag=103\nflow: table=0,actions=drop\n");
        assertThat(query("{\"request\":\"stop\",\"vm\":\"u\"}", "{\"answer\":{\"vm\":\"u\"}}", "stop", "u")
                        .out())
                .isEqualTo("vm     u\nstate  ending\n");
    }

    @Test
    void what_is_refused_is_an_error_with_its_hint() throws IOException {
        Cli.Result refused = query(
                "{\"request\":\"stop\",\"vm\":\"u\"}",
                "{\"refused\":{\"text\":\"u: want a VM of this host, have none\",\"hint\":\"see agentctl host vms\"}}",
                "stop",
                "u");
        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).isEqualTo("""
                        agentctl: error: u: want a VM of this host, have none
                        agentctl: hint: see agentctl host vms
                        """);
        assertThat(query("{\"request\":\"vms\"}", "[]", "vms").err()).contains("want an object of agent-host");
        assertThat(query("{\"request\":\"vms\"}", "{\"x\":1}", "vms").err()).contains("have something else");
    }

    @Test
    void a_job_step_waits_and_says_how_its_vm_went() throws IOException {
        CompletableFuture<Cli.Result> result = running("run", TICKET);
        try (LoopbackAgentHost.Call call = host.accept()) {
            assertThat(call.receive()).isEqualTo(RUN);
            call.send(JOB).send(RUNNING).send(DONE);
            assertThat(result.join().status()).isZero();
            assertThat(result.join().out())
                    .isEqualTo("job      12 ms\nrunning  480 ms\nend      done: the guest powered off\n");
            assertThat(result.join().err()).isEmpty();
        }
    }

    @Test
    void each_way_to_end_has_an_exit_status_of_its_own() throws IOException {
        for (VmExit.Code code : VmExit.Code.values()) {
            CompletableFuture<Cli.Result> result = running("run", TICKET, "-o", "json");
            try (LoopbackAgentHost.Call call = host.accept()) {
                call.receive();
                String word = code.name().toLowerCase(Locale.ROOT);
                call.send("{\"end\":{\"code\":\"" + word + "\",\"phase\":\"port\",\"text\":\"t\",\"hint\":\"h\"}}");
                assertThat(result.join().status()).isEqualTo(code.status());
                assertThat(result.join().out()).contains("\"code\" : \"" + word + "\"", "\"phase\" : \"port\"");
                assertThat(result.join().err())
                        .isEqualTo(
                                (code == VmExit.Code.DONE ? "" : "agentctl: error: ticket " + TICKET + " (port): t\n")
                                        + "agentctl: hint: h\n");
            }
        }
    }

    @Test
    void the_wait_goes_on_with_the_next_daemon_and_asks_anew_only_before_the_first_phase() throws IOException {
        CompletableFuture<Cli.Result> result = running("run", TICKET);
        try (LoopbackAgentHost.Call call = host.accept()) {
            assertThat(call.receive()).isEqualTo(RUN);
        }
        try (LoopbackAgentHost.Call call = host.accept()) {
            assertThat(call.receive()).isEqualTo(RUN);
            call.send(JOB);
        }
        host.close();
        host = new LoopbackAgentHost(socket);
        try (LoopbackAgentHost.Call call = host.accept()) {
            assertThat(call.receive()).isEqualTo(AGAIN);
            call.send(RUNNING).send(DONE);
            assertThat(result.join().status()).isZero();
        }
        assertThat(result.join().err())
                .startsWith("agentctl: warning: agent-host closed the connection without an answer;")
                .contains("; the VM keeps running, and this command waits\n");
    }

    @Test
    void who_finds_no_agent_host_gives_up_in_time() throws IOException {
        host.close();
        Cli.Result result = running("run", TICKET, "--patience", "0").join();
        assertThat(result.status()).isEqualTo(5);
        assertThat(result.err())
                .isEqualTo("agentctl: error: ticket " + TICKET + ": " + socket
                        + ": cannot connect to agent-host: No such file or directory;"
                        + " see systemctl status agent-host\n");
    }

    @Test
    void sigterm_is_passed_on_and_the_vms_end_is_the_processs() throws Exception {
        Process process = process();
        try (BufferedReader out = process.inputReader();
                LoopbackAgentHost.Call call = host.accept()) {
            assertThat(call.receive()).isEqualTo(RUN);
            call.send(JOB);
            process.toHandle().destroy();
            assertThat(call.receive()).isEqualTo("{\"request\":\"stop\"}");
            assertThat(process.isAlive()).isTrue();
            call.send("{\"end\":{\"code\":\"stopped\",\"phase\":\"gone\",\"text\":\"the job ended\",\"hint\":\"\"}}");
            assertThat(out.lines()).containsExactly("job  12 ms", "end  stopped: the job ended");
            assertThat(process.waitFor()).isEqualTo(VmExit.Code.STOPPED.status());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void sigterm_while_no_agent_host_is_there_reaches_the_next_one() throws Exception {
        Process process = process();
        try (BufferedReader err = process.errorReader()) {
            try (LoopbackAgentHost.Call call = host.accept()) {
                assertThat(call.receive()).isEqualTo(RUN);
                call.send(JOB);
            }
            assertThat(err.readLine()).contains("the VM keeps running, and this command waits");
            process.toHandle().destroy();
            try (LoopbackAgentHost.Call call = host.accept()) {
                assertThat(call.receive()).isEqualTo(AGAIN);
                assertThat(call.receive()).isEqualTo("{\"request\":\"stop\"}");
                call.send(DONE);
                assertThat(process.waitFor()).isZero();
            }
        } finally {
            process.destroyForcibly();
        }
    }

    private Process process() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Agentctl.class.getName(),
                        "host",
                        "run",
                        TICKET,
                        "--socket",
                        socket.toString())
                .start();
    }
}
