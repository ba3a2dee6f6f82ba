package org.cloister.lab.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabName;
import org.cloister.lab.LabOpenVswitch;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.lab.host.VmStartProgram;
import org.cloister.lab.relay.ChildProcess;

/**
 * Measures a compute host: a VM from its ticket to its kernel's first byte, compared with libvirt alone and QEMU alone
 * with the same devices; many VMs' network connections at once; and the idle daemon, compared with a bare TLS echo.
 */
final class HostBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-host");
    /** A p99 needs a hundred values, which the usual number of rounds gives. */
    private static final int STARTS_A_REPETITION = 20;

    private static final int JOB = 20_000;
    private static final double ADDED_S = 0.150;
    private static final double WIRE_UPS_S = 1;
    private static final Duration LINE = Duration.ofMinutes(2);
    private static final String TAP = "bare0";
    private static final String LAST = "wire_ups";

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Lab.remove(home, NAME);
        Lab lab = Lab.up(home, NAME, new ProgressLog(System.err));
        try {
            starts(home, lab.host(1), repetitions, figures);
            Path folder = home.root().resolve(NAME.text());
            // A relay trusts one site for its lifetime, and each run makes another.
            LabHome.delete(folder);
            IdleHostBench.measure(lab.host(1), Files.createDirectories(folder), repetitions, figures);
        } finally {
            Lab.remove(home, NAME);
        }
    }

    private static void starts(LabHome home, LabHost host, int repetitions, BenchFigures figures) throws IOException {
        Path images = host.folder("images");
        Files.createSymbolicLink(images.resolve("current"), home.image("lab"));
        Path bare = host.folder("bare");
        host.command("truncate", "-s", "16M", bare.resolve("scratch").toString())
                .succeed();
        host.command("ip", "tuntap", "add", "dev", TAP, "mode", "tap", "multi_queue")
                .succeed();
        host.command("ip", "link", "set", "dev", TAP, "up").succeed();
        host.ovs().vsctl("add-port", LabOpenVswitch.BRIDGE, TAP);
        Map<String, double[]> values;
        try (CgroupJobStep step = CgroupJobStep.start(host, JOB);
                ChildProcess program = ChildProcess.start(
                        "host-starts", host.folder("log"), argv(host, images, bare, step, repetitions))) {
            values = read(program);
        }
        report(values, figures);
    }

    private static List<String> argv(LabHost host, Path images, Path bare, CgroupJobStep step, int repetitions)
            throws IOException {
        return host.command(
                        host.java().toString(),
                        // As in the package's launcher.
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xms16m",
                        "-Xmx256m",
                        "-Xss512k",
                        "-cp",
                        classPath(),
                        VmStartProgram.class.getName(),
                        host.folder("agent").toString(),
                        host.folder("scratch").toString(),
                        images.toString(),
                        host.ovs().folder().toString(),
                        host.libvirt().uri(),
                        bare.toString(),
                        TAP,
                        Long.toString(step.pid()),
                        Integer.toString(repetitions * STARTS_A_REPETITION),
                        Integer.toString(repetitions))
                .argv();
    }

    /** Returns an absolute class path: a host's processes start in its root folder. */
    private static String classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(each -> Path.of(each).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static Map<String, double[]> read(ChildProcess program) throws IOException {
        Map<String, List<Double>> lists = new LinkedHashMap<>();
        for (Optional<String> line = program.line(LINE); line.isPresent(); line = program.line(LINE)) {
            String[] words = line.get().split(" ", -1);
            lists.computeIfAbsent(words[0], key -> new ArrayList<>()).add(Double.parseDouble(words[1]));
        }
        if (!lists.containsKey(LAST)) {
            throw new LabException("bench host: ended before " + LAST, "read host-starts.log of lab " + NAME);
        }
        Map<String, double[]> values = new LinkedHashMap<>();
        lists.forEach((metric, list) ->
                values.put(metric, list.stream().mapToDouble(each -> each).toArray()));
        return values;
    }

    private static void report(Map<String, double[]> values, BenchFigures figures) {
        figures.times("start", of(values, "ours"), of(values, "bare"));
        figures.times("start_libvirt", of(values, "libvirt"), of(values, "bare"));
        figures.times("start_beside_libvirt", of(values, "ours"), of(values, "libvirt"));
        figures.p99Within("added", of(values, "added"), ADDED_S, "s");
        figures.p99("domain", of(values, "domain"), "s");
        for (Map.Entry<String, double[]> each : values.entrySet()) {
            if (each.getKey().startsWith("phase_")) {
                figures.p99(each.getKey(), each.getValue(), "s");
            }
        }
        figures.within(LAST, of(values, LAST), WIRE_UPS_S, "s");
    }

    private static double[] of(Map<String, double[]> values, String metric) {
        return Objects.requireNonNull(values.get(metric), metric);
    }
}
