package org.cloister.lab.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;

/** Registry of all benches, by name. */
public final class Benches {
    private Benches() {}

    /** Measures and reports its figures, in its own lab. */
    @FunctionalInterface
    interface Bench {
        void run(LabHome home, int repetitions, BenchFigures figures) throws IOException;
    }

    private static final Map<String, Bench> ALL = new TreeMap<>(Map.ofEntries(
            Map.entry("audit", new AuditBench()),
            Map.entry("boot", new BootBench()),
            Map.entry("host", new HostBench()),
            Map.entry("ipsec", new IpsecBench()),
            Map.entry("job", new JobBench()),
            Map.entry("luks", new LuksBench()),
            Map.entry("ovs", new OvsBench()),
            Map.entry("relay", new RelayBench()),
            Map.entry("slurm", new SlurmBench()),
            Map.entry("tickets", new TicketsBench()),
            Map.entry("vm", new VmBench())));

    /** @param names empty for all */
    public static void run(List<String> names, int repetitions, LabHome home, Path results, PrintStream out)
            throws IOException {
        for (String name : names) {
            if (!ALL.containsKey(name)) {
                throw new LabException("bench " + name + ": unknown", "known: " + String.join(", ", ALL.keySet()));
            }
        }
        for (Map.Entry<String, Bench> bench : ALL.entrySet()) {
            if (names.isEmpty() || names.contains(bench.getKey())) {
                BenchFigures figures = new BenchFigures(bench.getKey(), out);
                bench.getValue().run(home, repetitions, figures);
                figures.save(results.resolve(bench.getKey() + ".json"));
            }
        }
    }
}
