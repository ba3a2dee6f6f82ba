package org.cloister.lab;

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
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.lab.host.EchoProgram;
import org.cloister.lab.host.Packaged;
import org.cloister.lab.host.Resting;
import org.cloister.lab.relay.Program;
import org.cloister.lab.relay.RelaySite;

/** agent-host and {@code agentctl host run} as their packages have them, with nothing to do. */
@SuppressWarnings("try") // some programs are only there to be used by others
final class HostIdle {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    /** Between two questions: a fraction of what is measured. */
    private static final Duration PAUSE = Duration.ofMillis(2);

    private static final Duration SETTLE = Duration.ofSeconds(10);
    private static final Duration WATCHED = Duration.ofSeconds(60);
    private static final double IDLE_MB = 80;
    private static final double READY_S = 1;
    private static final String RELAY = "127.0.0.1:7443";

    private final Host host;
    private final Path folder;
    private final RelaySite site;
    private final Path config;
    private final Packaged daemon;
    private final EchoProgram echo;

    private HostIdle(Host host, Path folder) throws IOException {
        this.host = host;
        this.folder = folder;
        this.site = RelaySite.make(folder, 0);
        this.config = AgentHostFiles.lay(host, site, RELAY, Optional.empty(), false);
        this.daemon = Packaged.of(
                "host-root",
                "usr/libexec/cloister/agent-host",
                "usr/share/cloister/agent-host/make-archive",
                host.folder("agent-package"));
        this.echo = EchoProgram.make(site, host.folder("echo"));
    }

    /** @param folder of a site that is made anew */
    static void measure(Host host, Path folder, int rounds, Figures figures) throws IOException {
        HostIdle idle = new HostIdle(host, folder);
        int port = Program.port();
        Path wire = host.folder("sock").resolve("wire");
        // The relay is outside of the host: its address there leads to it through a socket.
        try (Program relay = Program.relay(folder, idle.site.relayConfig(port), port);
                Program out = Program.start(
                        "wire-out",
                        folder,
                        List.of("socat", "UNIX-LISTEN:" + wire + ",fork", "TCP:127.0.0.1:" + port));
                Program in = Program.start(
                        "wire-in",
                        folder,
                        host.command("socat", "TCP-LISTEN:7443,fork,reuseaddr", "UNIX-CONNECT:" + wire)
                                .argv())) {
            idle.site.deliver();
            idle.daemons(rounds, figures);
        }
        idle.waiting(rounds, figures);
    }

    private void daemons(int rounds, Figures figures) throws IOException {
        double[] ready = new double[rounds];
        double[] echoReady = new double[rounds];
        double[] serves = new double[rounds];
        double[] resident = new double[rounds];
        double[] echoResident = new double[rounds];
        double[] own = new double[rounds];
        double[] echoOwn = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            boolean last = i == rounds - 1;
            Files.deleteIfExists(AgentHostFiles.socket(host));
            long beganNs = System.nanoTime();
            try (Program launched = Program.start(
                    "agent-host", host.folder("log"), host.command(argv()).argv())) {
                await("agent-host's socket", () -> isOpen(AgentHostFiles.socket(host)));
                ready[i] = seconds(beganNs);
                await("a host that takes work", this::takesWork);
                serves[i] = seconds(beganNs);
                pause(SETTLE);
                // nsenter has one child, which became Java.
                Resting resting = new Resting(launched.child());
                resident[i] = resting.residentMb();
                own[i] = resting.ownMb();
                if (last) {
                    wakeUps("wakeups", resting, figures);
                }
            } finally {
                host.command("pkill", "-KILL", "-f", config.toString()).run();
            }
            int port = Program.port();
            beganNs = System.nanoTime();
            try (Program launched = Program.start("echo", folder, echo.argv(port))) {
                await("the echo", () -> isOpen(port));
                echoReady[i] = seconds(beganNs);
                Command.of("openssl", "s_client", "-connect", "127.0.0.1:" + port)
                        .reading("hello\n")
                        .run();
                pause(SETTLE);
                Resting resting = new Resting(launched.pid());
                echoResident[i] = resting.residentMb();
                echoOwn[i] = resting.ownMb();
                if (last) {
                    wakeUps("wakeups_echo", resting, figures);
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

    /** Those of threads of one name in a second, and all threads' together; without what one did that ended meanwhile. */
    private static void wakeUps(String metric, Resting resting, Figures figures) throws IOException {
        Map<String, Resting.Switched> before = resting.switches();
        pause(WATCHED);
        Map<String, Double> each = new TreeMap<>();
        resting.switches().forEach((id, now) -> {
            Resting.Switched then = before.getOrDefault(id, new Resting.Switched(now.name(), 0));
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

    /** In the place of agent-host, somebody who says nothing more. */
    private void waiting(int rounds, Figures figures) throws IOException {
        Packaged agentctl = Packaged.of(
                "root", "usr/bin/agentctl", "usr/share/cloister/agentctl/make-archive", host.folder("ctl-package"));
        Path socket = host.folder("sock").resolve("silent");
        double[] resident = new double[rounds];
        double[] own = new double[rounds];
        try (ServerSocketChannel silent =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket))) {
            for (int i = 0; i < rounds; i++) {
                List<String> argv = List.of(
                        agentctl.launcher().toString(), "host", "run", "a".repeat(26), "--socket", socket.toString());
                try (Program run = Program.start("agentctl", folder, argv);
                        SocketChannel caller = silent.accept()) {
                    caller.write(ByteBuffer.wrap(
                            "{\"phase\":{\"name\":\"running\",\"ms\":1}}\n".getBytes(StandardCharsets.US_ASCII)));
                    pause(SETTLE);
                    resident[i] = new Resting(run.pid()).residentMb();
                    own[i] = new Resting(run.pid()).ownMb();
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
            socket.connect(RelaySite.loopback(port));
            return true;
        } catch (SocketException e) {
            return false;
        }
    }

    private boolean takesWork() throws IOException {
        // Who asks has to be a process that the daemon sees.
        String said = host.command("socat", "-t5", "-", "UNIX-CONNECT:" + AgentHostFiles.socket(host))
                .reading("{\"request\":\"status\"}\n")
                .run()
                .out();
        return new ObjectMapper()
                .readTree(said)
                .path("answer")
                .path("takes_work")
                .asBoolean();
    }

    private static void await(String what, Poll.Question question) throws IOException {
        Poll.until(what, LIMIT, "read the logs in the lab's folder", PAUSE, question);
    }

    private static double seconds(long beganNs) {
        return (System.nanoTime() - beganNs) / 1e9;
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
