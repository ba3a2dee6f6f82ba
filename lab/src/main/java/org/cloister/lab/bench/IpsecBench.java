package org.cloister.lab.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelEvent;
import org.cloister.ipsec.TunnelGuard;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelMtu;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.ipsec.Tunnels;
import org.cloister.lab.CharonPair;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabProjectKeys;
import org.cloister.lab.Poll;
import org.cloister.lab.TcpStream;

/**
 * Measures the time until packets can pass through each of fifty tunnels, compared with a loop of {@code swanctl
 * --load-conns} and {@code --initiate} for the same connections, whose keys are loaded before and are not counted. Then
 * measures 64 MiB of TCP through one of them with our guard, compared with the same tunnel configured by hand with and
 * without that guard.
 */
final class IpsecBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-ipsec");
    private static final int TUNNELS = 50;
    private static final long BYTES = 64L << 20;
    /** Number of counted streams for each tunnel; one before them is not counted. */
    private static final int STREAMS = 4;

    private static final String PORT = "5001";
    /** charon drops packets from an address with five half-open connections. Here fifty machines share one address. */
    private static final String MANY_FROM_ONE = "charon-systemd {\n  dos_protection = no\n}\n";

    private static final TunnelIdentity SELF = TunnelIdentity.controller("c", "a");
    private static final Ipv4Address LOCAL = address(0);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration DAY = Duration.ofHours(24);

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        try (CharonPair pair = CharonPair.start(home, NAME)) {
            for (int i = 0; i <= TUNNELS; i++) {
                pair.side(i == 0 ? 1 : 2).address(address(i).text());
            }
            new Run(pair, LabProjectKeys.create("a")).measure(repetitions, figures);
        }
    }

    private record Run(CharonPair pair, LabProjectKeys keys) {
        void measure(int repetitions, BenchFigures figures) throws IOException {
            configure(pair.side(1), 0);
            for (int i = 1; i <= TUNNELS; i++) {
                configure(pair.side(2), i);
                Files.writeString(pair.side(1).folder().resolve("swanctl/" + i + ".conf"), swanctl(0, i));
            }
            StringBuilder all = new StringBuilder();
            for (int i = 1; i <= TUNNELS; i++) {
                all.append(swanctl(i, 0));
            }
            Files.writeString(pair.side(2).folder().resolve("swanctl/swanctl.conf"), all);
            ours();
            List<double[]> ours = new ArrayList<>();
            List<double[]> peer = new ArrayList<>();
            for (int i = 0; i < repetitions; i++) {
                ours.add(ours());
                peer.add(byHand());
            }
            figures.times("setup", last(ours), last(peer));
            figures.p99("setup", every(ours), every(peer));
            throughput(repetitions, figures);
        }

        /** Returns the seconds from the start until each tunnel was up, in the order in which they came up. */
        private double[] ours() throws IOException {
            restart();
            BlockingQueue<TunnelEvent> events = new LinkedBlockingQueue<>();
            try (Tunnels tunnels = Tunnels.open(pair.side(1).socket(), events::add)) {
                await(events, TunnelEvent.CharonState.class);
                TunnelPlan plan = plan(TUNNELS);
                double[] times = new double[TUNNELS];
                long start = System.nanoTime();
                var update = tunnels.replace(plan);
                for (int i = 0; i < TUNNELS; i++) {
                    await(events, TunnelEvent.Up.class);
                    times[i] = since(start);
                }
                if (update.isCompletedExceptionally()) {
                    throw new LabException("bench: charon refused the plan", "read charon.log");
                }
                return times;
            }
        }

        private double[] byHand() throws IOException {
            restart();
            pair.side(1).swanctl("--load-creds").succeed();
            double[] times = new double[TUNNELS];
            long start = System.nanoTime();
            for (int i = 1; i <= TUNNELS; i++) {
                byHand(i);
                times[i - 1] = since(start);
            }
            return times;
        }

        private void byHand(int number) throws IOException {
            String file =
                    pair.side(1).folder().resolve("swanctl/" + number + ".conf").toString();
            pair.side(1).swanctl("--load-conns", "--file", file).succeed();
            pair.side(1).swanctl("--initiate", "--child", "cloister-w" + number).succeed();
        }

        /**
         * Measures a tunnel by hand, without a guard and with ours, and our tunnel with it; the order changes with each
         * round.
         */
        private void throughput(int repetitions, BenchFigures figures) throws IOException {
            double[] ours = new double[repetitions * STREAMS];
            double[] guarded = new double[repetitions * STREAMS];
            double[] bare = new double[repetitions * STREAMS];
            for (int i = 0; i < repetitions; i++) {
                if (i % 2 == 1) {
                    oneOfOurs(ours, i);
                }
                restart();
                byHand(1);
                stream(bare, i);
                guard();
                stream(guarded, i);
                unguard();
                if (i % 2 == 0) {
                    oneOfOurs(ours, i);
                }
            }
            figures.times("throughput", ours, guarded);
            figures.times("throughput_unguarded", ours, bare);
        }

        private void guard() throws IOException {
            TunnelGuard guard =
                    TunnelGuard.of("eth0", Ipv4Network.parse("10.71.0.0/24"), new TunnelMtu(1500, EspMode.USERSPACE));
            for (int end = 1; end <= 2; end++) {
                guard.install(pair.side(end).nft());
            }
        }

        private void unguard() throws IOException {
            for (int end = 1; end <= 2; end++) {
                pair.side(end)
                        .command("/usr/sbin/nft", "delete", "table", "inet", TunnelGuard.TABLE)
                        .succeed();
            }
        }

        private void oneOfOurs(double[] times, int round) throws IOException {
            restart();
            guard();
            BlockingQueue<TunnelEvent> events = new LinkedBlockingQueue<>();
            try (Tunnels tunnels = Tunnels.open(pair.side(1).socket(), events::add)) {
                await(events, TunnelEvent.CharonState.class);
                tunnels.replace(plan(1)).join();
                await(events, TunnelEvent.Up.class);
                stream(times, round);
            } finally {
                unguard();
            }
        }

        private void stream(double[] times, int round) throws IOException {
            Process taker = new ProcessBuilder(
                            java(pair.side(2), "take", address(1).text(), PORT).argv())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                Poll.until("the listener", LIMIT, "run it by hand", this::isListening);
                give();
                for (int i = 0; i < STREAMS; i++) {
                    times[round * STREAMS + i] = give();
                }
            } finally {
                taker.descendants().forEach(ProcessHandle::destroyForcibly);
                taker.destroyForcibly();
            }
            Poll.until("the listener's end", LIMIT, "kill -9 " + taker.pid(), () -> !isListening());
        }

        private boolean isListening() throws IOException {
            return pair.side(2)
                    .command("ss", "-Hltn", "sport", "=", ":" + PORT)
                    .succeed()
                    .contains(PORT);
        }

        private double give() throws IOException {
            return Double.parseDouble(java(pair.side(1), "give", address(1).text(), PORT, Long.toString(BYTES))
                    .within(LIMIT)
                    .succeed()
                    .strip());
        }

        private static LabCommand java(CharonPair.Side end, String... arguments) {
            // The class path may have relative folders; the machine has another working folder.
            String path = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                    .map(entry -> Path.of(entry).toAbsolutePath().toString())
                    .collect(Collectors.joining(File.pathSeparator));
            List<String> argv = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-cp",
                    path,
                    TcpStream.class.getName()));
            argv.addAll(List.of(arguments));
            return end.command(argv.toArray(String[]::new));
        }

        private void restart() throws IOException {
            for (int end = 1; end <= 2; end++) {
                pair.side(end).killCharon();
                pair.side(end).startCharon(MANY_FROM_ONE);
            }
            pair.side(2).swanctl("--load-all").succeed();
            pair.side(1).swanctl("--load-creds").succeed();
        }

        private TunnelPlan plan(int tunnels) throws IOException {
            List<PinnedPeer> peers = new ArrayList<>();
            for (int i = 1; i <= tunnels; i++) {
                peers.add(new PinnedPeer("w" + i, identity(i), address(i), PinnedPeer.Start.INITIATE));
            }
            return keys.plan(SELF, LOCAL, DAY).with(peers);
        }

        private void configure(CharonPair.Side end, int number) throws IOException {
            Path folder = end.folder().resolve("swanctl");
            for (String kind : List.of("x509", "x509ca", "private")) {
                Files.createDirectories(folder.resolve(kind));
            }
            keys.write(
                    identity(number),
                    folder.resolve("x509").resolve(number + ".crt"),
                    folder.resolve("private").resolve(number + ".key"));
            int count = 0;
            for (var authority : keys.authorities()) {
                Files.write(folder.resolve("x509ca").resolve("ca" + count++ + ".crt"), authority.der());
            }
        }
    }

    /** Returns the same connection as ours in the syntax of swanctl.conf(5). */
    private static String swanctl(int from, int to) {
        int worker = Math.max(from, to);
        return """
                connections {
                  cloister-w%1$d {
                    version = 2
                    local_addrs = %2$s
                    remote_addrs = %3$s
                    encap = yes
                    mobike = no
                    unique = no
                    send_cert = always
                    proposals = aes256gcm16-prfsha384-ecp384
                    dpd_delay = 3s
                    local {
                      auth = pubkey
                      certs = %4$d.crt
                      id = %5$s
                    }
                    remote {
                      auth = ecdsa-384-sha384
                      id = %6$s
                    }
                    children {
                      cloister-w%1$d {
                        esp_proposals = aes256gcm16-ecp384
                        local_ts = %2$s/32
                        remote_ts = %3$s/32
                      }
                    }
                  }
                }
                """.formatted(worker, address(from), address(to), from, identity(from), identity(to));
    }

    private static TunnelIdentity identity(int number) {
        return number == 0 ? SELF : TunnelIdentity.worker("w" + number, "a");
    }

    private static Ipv4Address address(int number) {
        return new Ipv4Address("10.71.0." + (number + 1));
    }

    private static void await(BlockingQueue<TunnelEvent> events, Class<? extends TunnelEvent> type)
            throws LabException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        try {
            TunnelEvent event;
            do {
                event = events.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } while (event != null && !type.isInstance(event));
            if (event == null) {
                throw new LabException("bench: no " + type.getSimpleName(), "read charon.log");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new LabException("interrupted while waiting for a tunnel", "start again", e);
        }
    }

    private static double since(long start) {
        return (System.nanoTime() - start) / 1e9;
    }

    private static double[] last(List<double[]> repetitions) {
        return repetitions.stream().mapToDouble(times -> times[TUNNELS - 1]).toArray();
    }

    private static double[] every(List<double[]> repetitions) {
        return repetitions.stream().flatMapToDouble(Arrays::stream).toArray();
    }
}
