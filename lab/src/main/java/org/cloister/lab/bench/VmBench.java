package org.cloister.lab.bench;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabName;
import org.cloister.lab.LabRelease;
import org.cloister.lab.LabReleases;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.guest.ScratchTimings;
import org.cloister.lab.project.MemberJobNode;
import org.cloister.lab.vm.GuestAgent;
import org.cloister.lab.vm.NodeStart;
import org.cloister.lab.vm.PlainNode;
import org.cloister.lab.vm.TunnelPair;

/**
 * Measures the cost of security in a guest: the agent's share of the boot and its memory while it waits; scratch and
 * tunnel as agent-vm makes them, compared with the same without; a project's worker until its node is idle, compared
 * with the same image with a plain slurmd.
 */
final class VmBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-vm");
    private static final int MEMORY_MIB = 1024;
    private static final double IDLE_MB = 80;

    private static final Duration LIMIT = Duration.ofMinutes(9);
    private static final Pattern NEEDED =
            Pattern.compile("lab/target/classes|/base/target/|agent-vm|luks-keyops|jnr-|jffi|/asm|jackson|slf4j-api");
    private static final long DISK = 256L << 20;
    /** Size of a file: larger than the caches that hide a write, and several fit on the disk. */
    private static final int FILE_MIB = 64;

    private static final long BYTES = 16L << 20;
    private static final double MEGABYTE = 1e6;
    /** Number of streams of each kind in a round. */
    private static final int STREAMS = 2;

    private final Map<String, double[]> values = new TreeMap<>();

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Path image = home.image("lab").toRealPath();
        Lab.remove(home, NAME);
        // The plain node is one of the site's Slurm.
        LabReleases releases = LabReleases.parse(LabRelease.GUEST_SUITE, Lab.MACHINES, home);
        Lab lab = Lab.up(home, NAME, releases, new ProgressLog(System.err));
        ProgressLog steps = new ProgressLog(System.err);
        try {
            LabHost host = lab.host(1);
            Path folder = home.root().resolve(NAME.text());
            steps.runStep("boots, in turns", () -> boots(lab, image, folder, repetitions));
            report(figures);
            steps.runStep("scratch", () -> scratch(host, image, repetitions));
            rates(figures, "scratch_write", "scratch_read");
            steps.runStep("tunnel", () -> tunnel(host, image, repetitions));
            rates(figures, "tunnel");
            steps.runStep("a project's nodes", () -> nodes(lab, folder.resolve("project"), repetitions));
            figures.times("node_idle", of("node_idle", "ours"), of("node_idle", "peer"));
            for (String phase : List.of("boot", "evidence", "keys", "tunnel", "registration")) {
                figures.alone("node_" + phase, of("node_" + phase, "ours"), "s");
            }
        } finally {
            Lab.remove(home, NAME);
        }
    }

    /**
     * Measures a project's nodes, after all else: from then on agent-host controls the hosts' bridges and passes only
     * what its plans permit.
     */
    private void nodes(Lab lab, Path folder, int repetitions) throws IOException {
        Files.createDirectories(folder);
        try (MemberJobNode worker = MemberJobNode.at(lab, folder)) {
            for (int i = 0; i < repetitions; i++) {
                NodeStart.Started started = worker.start();
                keep("node_idle", "ours", started.idle());
                started.phases().forEach((phase, seconds) -> keep("node_" + phase, "ours", seconds));
            }
        }
    }

    /** Measures a plain node, and an agent with nothing but its host. */
    private void boots(Lab lab, Path image, Path folder, int repetitions) throws IOException {
        LabHost host = lab.host(1);
        LabVmSpec spec = LabVmSpec.of("agent", image).withShape(1, MEMORY_MIB);
        try (PlainNode plain = PlainNode.on(host, image, lab.slurm().mungeKey(), MEMORY_MIB);
                GuestAgent agent = GuestAgent.start(folder)) {
            for (int i = 0; i < repetitions; i++) {
                keep("node_idle", "peer", plain.start().idle());
                GuestAgent.Boot boot = agent.boot(host, spec);
                boot.seconds().forEach((phase, seconds) -> keep("phase_" + phase, "ours", seconds));
                keep("agent", "ours", boot.agentSeconds());
                keep("agent_share", "ours", boot.agentSeconds() / attached(boot));
                keep("agent_cpu", "ours", boot.cpuSeconds());
                keep("idle", "ours", boot.residentMb());
                keep("idle_own", "ours", boot.ownMb());
            }
        }
    }

    private static double attached(GuestAgent.Boot boot) {
        return Objects.requireNonNull(boot.seconds().get("attached"), "attached");
    }

    private void scratch(LabHost host, Path image, int repetitions) throws IOException {
        Path folder = host.folder("scratch");
        LabVmSpec spec = LabVmSpec.of("scratch", image)
                .withShape(1, MEMORY_MIB)
                .withDisk(sparse(folder.resolve("ours")))
                .withDisk(sparse(folder.resolve("plain")));
        int layers = spec.manifest().layers().size();
        try (LabVm vm = host.boot(spec).awaitRunner()) {
            vm.succeed("systemctl", "stop", "agent-vm.service");
            GuestJava.install(vm, NEEDED)
                    .run(
                            ScratchTimings.class,
                            "",
                            LIMIT,
                            device(layers),
                            device(layers + 1),
                            Integer.toString(repetitions),
                            Integer.toString(FILE_MIB))
                    .lines()
                    .map(line -> line.split(" ", -1))
                    .forEach(words -> keep("scratch_" + words[0], words[1], Double.parseDouble(words[2])));
        }
    }

    private void tunnel(LabHost host, Path image, int repetitions) throws IOException {
        try (TunnelPair pair = TunnelPair.boot(host, image, host.folder("link"))) {
            for (int i = 0; i < repetitions; i++) {
                pair.tunnel();
                streams(pair, "ours");
                pair.plain();
                streams(pair, "peer");
            }
        }
    }

    /** Measures streams; one before them is not counted. */
    private void streams(TunnelPair pair, String side) throws IOException {
        pair.send(BYTES / STREAMS);
        for (int i = 0; i < STREAMS; i++) {
            keep("tunnel", side, BYTES / MEGABYTE / pair.send(BYTES));
        }
    }

    private void report(BenchFigures figures) {
        for (String phase : List.of("started", "keys", "attached")) {
            figures.alone("phase_" + phase, of("phase_" + phase, "ours"), "s");
        }
        figures.alone("agent", of("agent", "ours"), "s");
        figures.alone("agent_cpu", of("agent_cpu", "ours"), "s");
        figures.alone("agent_share", of("agent_share", "ours"), "1");
        figures.within("idle", of("idle", "ours"), IDLE_MB, "MB");
        figures.alone("idle_own", of("idle_own", "ours"), "MB");
    }

    private void rates(BenchFigures figures, String... metrics) {
        for (String metric : metrics) {
            figures.rates(metric, of(metric, "ours"), of(metric, "peer"), "MB/s");
        }
    }

    private void keep(String metric, String side, double value) {
        values.merge(
                metric + " " + side,
                new double[] {value},
                (all, more) -> DoubleStream.concat(DoubleStream.of(all), DoubleStream.of(more))
                        .toArray());
    }

    private double[] of(String metric, String side) {
        return Objects.requireNonNull(values.get(metric + " " + side), metric);
    }

    private static String device(int number) {
        return "/dev/vd" + (char) ('a' + number);
    }

    private static Path sparse(Path file) throws IOException {
        Files.deleteIfExists(file);
        try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(DISK);
        }
        return file;
    }
}
