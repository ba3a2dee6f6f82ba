package org.cloister.lab.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.host.EchoProgram;
import org.cloister.lab.host.IdleUsage;
import org.cloister.lab.host.PackagedProgram;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;

/** Measures idle agent-host and {@code agentctl host run} as their packages install them. */
@SuppressWarnings("try") // some programs are only there to be used by others
final class IdleHostBench {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    /** Pause between two queries: a fraction of the measured time. */
    private static final Duration PAUSE = Duration.ofMillis(2);

    private static final Duration SETTLE = Duration.ofSeconds(10);
    private static final Duration WATCHED = Duration.ofSeconds(60);
    private static final double IDLE_MB = 80;
    private static final double READY_S = 1;
    private static final String RELAY = "127.0.0.1:7443";

    private final LabHost host;
    private final Path folder;
    private final RelaySiteFiles site;
    private final Path config;
    private final PackagedProgram daemon;
    private final EchoProgram echo;

    private IdleHostBench(LabHost host, Path folder) throws IOException {
        this.host = host;
        this.folder = folder;
        this.site = RelaySiteFiles.create(folder, 0);
        this.config = AgentHostFiles.write(host, site, RELAY, Optional.empty(), false);
        this.daemon = PackagedProgram.of(
                "host-root",
                "usr/libexec/cloister/agent-host",
                "usr/share/cloister/agent-host/make-archive",
                host.folder("agent-package"));
        this.echo = EchoProgram.create(site, host.folder("echo"));
    }

    /** @param folder of a site, which is created again */
    static void measure(LabHost host, Path folder, int repetitions, BenchFigures figures) throws IOException {
        IdleHostBench idle = new IdleHostBench(host, folder);
        int port = ChildProcess.port();
        Path wire = host.folder("sock").resolve("wire");
        // The relay is outside of the host: its address there leads to it through a socket.
        try (ChildProcess relay = ChildProcess.relay(folder, idle.site.relayConfig(port), port);
                ChildProcess out = ChildProcess.start(
                        "wire-out",
                        folder,
                        List.of("socat", "UNIX-LISTEN:" + wire + ",fork", "TCP:127.0.0.1:" + port));
                ChildProcess in = ChildProcess.start(
                        "wire-in",
                        folder,
                        host.command("socat", "TCP-LISTEN:7443,fork,reuseaddr", "UNIX-CONNECT:" + wire)
                                .argv())) {
            idle.site.deliver();
            idle.daemons(repetitions, figures);
        }
        idle.waiting(repetitions, figures);
    }

    private void daemons(int repetitions, BenchFigures figures) throws IOException {
        double[] ready = new double[repetitions];
        double[] echoReady = new double[repetitions];
        double[] serves = new double[repetitions];
        double[] resident = new double[repetitions];
        double[] echoResident = new double[repetitions];
        double[] own = new double[repetitions];
        double[] echoOwn = new double[repetitions];
        for (int i = 0; i < repetitions; i++) {
            boolean last = i == repetitions - 1;
            Files.deleteIfExists(AgentHostFiles.socket(host));
            long startNs = System.nanoTime();
            try (ChildProcess launched = ChildProcess.start(
                    "agent-host", host.folder("log"), host.command(argv()).argv())) {
                await("agent-host's socket", () -> isOpen(AgentHostFiles.socket(host)));
                ready[i] = seconds(startNs);
                await("a host that takes work", this::isAcceptingWork);
                serves[i] = seconds(startNs);
                pause(SETTLE);
                // nsenter has one child, which became Java.
                IdleUsage idle = new IdleUsage(launched.child());
                resident[i] = idle.residentMb();
                own[i] = idle.ownMb();
                if (last) {
                    wakeUps("wakeups", idle, figures);
                }
            } finally {
                host.command("pkill", "-KILL", "-f", config.toString()).run();
            }
            int port = ChildProcess.port();
            startNs = System.nanoTime();
            try (ChildProcess launched = ChildProcess.start("echo", folder, echo.argv(port))) {
                await("the echo", () -> isOpen(port));
                echoReady[i] = seconds(startNs);
                LabCommand.of("openssl", "s_client", "-connect", "127.0.0.1:" + port)
                        .reading("hello\n")
                        .run();
                pause(SETTLE);
                IdleUsage idle = new IdleUsage(launched.pid());
                echoResident[i] = idle.residentMb();
                echoOwn[i] = idle.ownMb();
                if (last) {
                    wakeUps("wakeups_echo", idle, figures);
                }
            }
        }
        figures.within("ready", ready, READY_S, "s");
        figures.roundTimes("ready_echo", ready, echoReady);
        figures.alone("takes_work", serves, "s");
        figures.within("idle", resident, IDLE_MB, "MB");
        figures.alone("idle_echo", echoResident, "MB");
        figures.alone("idle_own", own, "MB");
        figures.alone("idle_echo_own", echoOwn, "MB");
    }

    private String[] argv() {
        return new String[] {daemon.launcher().toString(), config.toString()};
    }

    /**
     * Reports the wake-ups per second of threads with the same name, and of all threads together. Wake-ups of threads
     * that ended meanwhile are not counted.
     */
    private static void wakeUps(String metric, IdleUsage idle, BenchFigures figures) throws IOException {
        Map<String, IdleUsage.ContextSwitches> before = idle.switches();
        pause(WATCHED);
        Map<String, Double> each = new TreeMap<>();
        idle.switches().forEach((id, now) -> {
            IdleUsage.ContextSwitches then = before.getOrDefault(id, new IdleUsage.ContextSwitches(now.name(), 0));
            each.merge(now.name(), (now.count() - then.count()) / (double) WATCHED.toSeconds(), Double::sum);
        });
        each.forEach((name, count) -> {
            if (count > 0) {
                System.err.printf("  %s: %s %.2f/s%n", metric, name, count);
            }
        });
        double all = each.values().stream().mapToDouble(Double::doubleValue).sum();
        figures.alone(metric, new double[] {all}, "1/s");
    }

    /** Measures agentctl waiting for a silent server in the place of agent-host. */
    private void waiting(int repetitions, BenchFigures figures) throws IOException {
        PackagedProgram agentctl = PackagedProgram.of(
                "root", "usr/bin/agentctl", "usr/share/cloister/agentctl/make-archive", host.folder("ctl-package"));
        Path socket = host.folder("sock").resolve("silent");
        double[] resident = new double[repetitions];
        double[] own = new double[repetitions];
        try (ServerSocketChannel silent =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket))) {
            for (int i = 0; i < repetitions; i++) {
                List<String> argv = List.of(
                        agentctl.launcher().toString(), "host", "run", "a".repeat(26), "--socket", socket.toString());
                try (ChildProcess run = ChildProcess.start("agentctl", folder, argv);
                        SocketChannel caller = silent.accept()) {
                    caller.write(ByteBuffer.wrap(
                            "{\"phase\":{\"name\":\"running\",\"ms\":1}}\n".getBytes(StandardCharsets.US_ASCII)));
                    pause(SETTLE);
                    resident[i] = new IdleUsage(run.pid()).residentMb();
                    own[i] = new IdleUsage(run.pid()).ownMb();
                }
            }
        }
        figures.alone("run", resident, "MB");
        figures.alone("run_own", own, "MB");
    }

    private static boolean isOpen(Path socket) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            return channel.isConnected();
        } catch (SocketException e) {
            return false;
        }
    }

    private static boolean isOpen(int port) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(RelaySiteFiles.loopback(port));
            return true;
        } catch (SocketException e) {
            return false;
        }
    }

    private boolean isAcceptingWork() throws IOException {
        // The caller has to be a process that the daemon sees.
        String output = host.command("socat", "-t5", "-", "UNIX-CONNECT:" + AgentHostFiles.socket(host))
                .reading("{\"request\":\"status\"}\n")
                .run()
                .out();
        return new ObjectMapper()
                .readTree(output)
                .path("answer")
                .path("takes_work")
                .asBoolean();
    }

    private static void await(String what, Poll.Question question) throws IOException {
        Poll.until(what, LIMIT, "read the logs in the lab's folder", PAUSE, question);
    }

    private static double seconds(long startNs) {
        return (System.nanoTime() - startNs) / 1e9;
    }

    private static void pause(Duration time) throws LabException {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted", "start again", e);
        }
    }
}
