package org.cloister.lab.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.relay.AttachedAgentsProgram;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.lab.relay.TrafficProgram;

/**
 * Measures the relay in a separate process, with the options of its package: messages through a circuit compared with
 * {@code nats-server}, handshakes compared with {@code openssl s_server}, and the cost of many agents. All on loopback.
 */
final class RelayBench implements Benches.Bench {
    /** More than the number of certificates that the JDK caches parsed. */
    private static final int HOSTS = 1000;

    private static final int CROWDS = 2;
    private static final int AGENTS = 5000;
    private static final int BACK = 2000;
    private static final int HANDSHAKES_S = 3;
    private static final double MEMORY_MB = 512;
    private static final double IDLE_MB = 96;
    private static final Duration TRAFFIC = Duration.ofMinutes(2);
    private static final Duration ATTACH = Duration.ofMinutes(9);
    private static final Duration SETTLE = Duration.ofSeconds(3);
    private static final Pattern MADE = Pattern.compile("(\\d+) connections in \\d+ real seconds");

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Path folder = home.root().resolve("bench-relay");
        // A relay trusts one site for its lifetime, and each run makes another.
        LabCommand.of("rm", "-rf", folder.toString()).succeed();
        Files.createDirectories(folder);
        RelaySiteFiles site = RelaySiteFiles.create(folder, HOSTS);
        int port = ChildProcess.port();
        Run run = new Run(site, folder, port, site.relayConfig(port), repetitions, figures);
        double idle = run.idle();
        run.traffic();
        run.handshakes();
        run.memory(idle);
        run.back();
        FloodBench.run(folder.resolve("flood"), repetitions, figures);
    }

    /** A run with one site, and a relay for each part of the bench. */
    @SuppressWarnings("try") // some programs are only there to be used by others
    private record Run(RelaySiteFiles site, Path folder, int port, Path config, int repetitions, BenchFigures figures) {
        private ChildProcess relay() throws IOException {
            ChildProcess relay = ChildProcess.relay(folder, config, port);
            try {
                site.deliver();
                return relay;
            } catch (IOException e) {
                relay.close();
                throw e;
            }
        }

        double idle() throws IOException {
            double[] resident = new double[repetitions];
            for (int i = 0; i < repetitions; i++) {
                try (ChildProcess relay = relay()) {
                    settle();
                    resident[i] = relay.residentMb();
                }
            }
            figures.within("idle", resident, IDLE_MB, "MB");
            return BenchFigures.quantile(resident, 0.5);
        }

        void traffic() throws IOException {
            int natsPort = ChildProcess.port();
            Path natsConfig = Files.writeString(
                    folder.resolve("nats.conf"),
                    "listen: \"127.0.0.1:" + natsPort + "\"\ntls { cert_file: \""
                            + site.certificate(RelaySiteFiles.RELAY) + "\", key_file: \""
                            + site.key(RelaySiteFiles.RELAY) + "\" }\n");
            Map<String, List<Double>> values = new TreeMap<>();
            List<String> peer = List.of("nats-server", "--config", natsConfig.toString());
            try (ChildProcess relay = relay();
                    ChildProcess nats =
                            ChildProcess.start("nats-server", folder, peer).listening(natsPort);
                    ChildProcess ends =
                            ChildProcess.java(TrafficProgram.class, folder, folder, port, natsPort, repetitions)) {
                for (Optional<String> line = ends.line(TRAFFIC); line.isPresent(); line = ends.line(TRAFFIC)) {
                    String[] words = line.get().split(" ", -1);
                    values.computeIfAbsent(words[0] + " " + words[1], key -> new ArrayList<>())
                            .add(Double.parseDouble(words[2]));
                }
            }
            figures.roundRates(
                    "throughput64k", of(values, "throughput64k ours"), of(values, "throughput64k peer"), "MB/s");
            for (String metric : List.of("median_512", "p99_512")) {
                figures.roundTimes(metric, of(values, metric + " ours"), of(values, metric + " peer"));
            }
        }

        private double[] of(Map<String, List<Double>> values, String what) throws LabException {
            List<Double> found = values.getOrDefault(what, List.of());
            if (found.size() != repetitions) {
                throw new LabException(
                        "bench relay: want " + repetitions + " values of " + what + ", have " + found.size(),
                        "read " + folder.resolve("Traffic.log"));
            }
            return found.stream().mapToDouble(Double::doubleValue).toArray();
        }

        void handshakes() throws IOException {
            int opensslPort = ChildProcess.port();
            double[] ours = new double[repetitions];
            double[] peer = new double[repetitions];
            try (ChildProcess relay = relay();
                    ChildProcess openssl = ChildProcess.start("s_server", folder, server(opensslPort))
                            .listening(opensslPort)) {
                handshakesPerS(port);
                handshakesPerS(opensslPort);
                for (int i = 0; i < repetitions; i++) {
                    ours[i] = handshakesPerS(port);
                    peer[i] = handshakesPerS(opensslPort);
                }
            }
            figures.roundRates("handshakes", ours, peer, "1/s");
        }

        private List<String> server(int opensslPort) {
            List<String> argv = new ArrayList<>(List.of("openssl", "s_server", "-accept", "127.0.0.1:" + opensslPort));
            argv.addAll(List.of("-tls1_3", "-num_tickets", "0", "-no_cache", "-quiet", "-groups", "P-256"));
            argv.addAll(List.of("-Verify", "1", "-verify_return_error", "-CAfile", text(site.siteCertificate())));
            argv.addAll(List.of("-cert", text(site.certificate(RelaySiteFiles.RELAY))));
            argv.addAll(List.of("-key", text(site.key(RelaySiteFiles.RELAY))));
            return argv;
        }

        /**
         * Returns the handshakes per second of one program, one after the other. A handshake counts when the client has
         * sent its last message.
         */
        private double handshakesPerS(int server) throws IOException {
            long from = System.nanoTime();
            String output = LabCommand.of(
                            "openssl",
                            "s_time",
                            "-new",
                            "-tls1_3",
                            "-time",
                            Integer.toString(HANDSHAKES_S),
                            "-connect",
                            "127.0.0.1:" + server,
                            "-cert",
                            text(site.certificate(RelaySiteFiles.HOST)),
                            "-key",
                            text(site.key(RelaySiteFiles.HOST)),
                            "-CAfile",
                            text(site.siteCertificate()))
                    .succeed();
            double seconds = (System.nanoTime() - from) / 1e9;
            Matcher made = MADE.matcher(output);
            if (!made.find()) {
                throw new LabException("openssl s_time: said " + output, "read the logs in " + folder);
            }
            return Integer.parseInt(made.group(1)) / seconds;
        }

        void memory(double idle) throws IOException {
            try (ChildProcess relay = relay();
                    ChildProcess first = ChildProcess.java(AttachedAgentsProgram.class, folder, folder, port, AGENTS);
                    ChildProcess second =
                            ChildProcess.java(AttachedAgentsProgram.class, folder, folder, port, AGENTS)) {
                first.await("all", ATTACH);
                second.await("all", ATTACH);
                settle();
                double resident = relay.residentMb();
                figures.within("memory", new double[] {resident}, MEMORY_MB, "MB");
                figures.alone("memory_per_agent", new double[] {(resident - idle) * 1e3 / (CROWDS * AGENTS)}, "kB");
            }
        }

        void back() throws IOException {
            double[] seconds = new double[repetitions];
            ChildProcess relay = relay();
            try (ChildProcess agents = ChildProcess.java(AttachedAgentsProgram.class, folder, folder, port, BACK)) {
                agents.await("all", ATTACH);
                for (int i = 0; i < repetitions; i++) {
                    long from = System.nanoTime();
                    relay.kill();
                    relay = relay();
                    agents.await("none", ATTACH);
                    agents.await("all", ATTACH);
                    seconds[i] = (System.nanoTime() - from) / 1e9;
                }
            } finally {
                relay.close();
            }
            figures.alone("back", seconds, "s");
        }

        private static String text(Path path) {
            return path.toString();
        }

        /** Waits before resident memory is read, until the JVM is idle. */
        private static void settle() throws LabException {
            try {
                Thread.sleep(SETTLE.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new LabException("interrupted", "start again", e);
            }
        }
    }
}
