package org.cloister.lab.bench;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import org.cloister.lab.GuestJava;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.guest.VolumeTimings;

/**
 * Measures volumes: in a guest the time from a sealed key to a mapped device and that device's throughput, and here the
 * creation of one on a file; ours in one warm JVM, compared with one process of {@code cryptsetup} each time. For
 * dm-integrity compared with XTS alone, both sides are ours.
 */
final class LuksBench implements Benches.Bench {
    private static final LabName NAME = new LabName("bench-luks");
    private static final Duration LIMIT = Duration.ofMinutes(9);
    private static final long FILE = 24 << 20;
    private static final long DISK = 128 << 20;
    private static final int FILE_REPETITIONS = 30;
    private static final String UNLOCK_REPETITIONS = "30";
    private static final String MIB = "16";

    /** The part of the class path that a guest's program for volumes needs. */
    private static final Pattern CLASS_PATH =
            Pattern.compile("lab/target/classes|/base/target/|luks-keyops|jnr-|jffi|/asm|jackson|bcprov");

    private final Map<String, double[]> values = new TreeMap<>();

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Lab.remove(home, NAME);
        Lab lab = Lab.up(home, NAME, new ProgressLog(System.err));
        try {
            Path folder = lab.host(1).folder("luks");
            new VolumeTimings(sparse(folder.resolve("file"), FILE), folder, this::keep)
                    .createAndUnlock(FILE_REPETITIONS);
            LabVmSpec spec = LabVmSpec.of("bench", home.image("lab"))
                    .withShape(1, 1024)
                    .withDisk(sparse(folder.resolve("disk"), DISK));
            try (LabVm vm = lab.host(1).boot(spec).awaitRunner()) {
                String device =
                        "/dev/vd" + (char) ('a' + spec.manifest().layers().size());
                String rates = Integer.toString(repetitions);
                GuestJava.install(vm, CLASS_PATH)
                        .run(VolumeTimings.class, "", LIMIT, device, UNLOCK_REPETITIONS, rates, MIB)
                        .lines()
                        .map(line -> line.split(" ", -1))
                        .forEach(words -> keep(words[0], words[1], Double.parseDouble(words[2])));
            }
        } finally {
            Lab.remove(home, NAME);
        }
        report(figures);
    }

    private void report(BenchFigures figures) {
        for (String metric : List.of("create_unlock", "unlock", "unlock_by_volume_key")) {
            figures.times(metric, values(metric, "ours"), values(metric, "peer"));
        }
        for (String part : List.of("unlock_key", "unlock_header", "unlock_map")) {
            figures.keep(part, "ours", values(part, "ours"));
        }
        for (String way : List.of("_write", "_read")) {
            double[] ours = values("throughput" + way, "ours");
            figures.rates("throughput" + way, ours, values("throughput" + way, "peer"), "MB/s");
            for (String kind : List.of("integrity", "integrity_no_journal")) {
                figures.rates(kind + way, values(kind + way, "ours"), ours, "MB/s");
            }
        }
    }

    private void keep(String metric, String side, double value) {
        values.merge(
                metric + " " + side,
                new double[] {value},
                (some, one) -> DoubleStream.concat(DoubleStream.of(some), DoubleStream.of(one))
                        .toArray());
    }

    private double[] values(String metric, String side) {
        return values.getOrDefault(metric + " " + side, new double[0]);
    }

    private static Path sparse(Path file, long length) throws IOException {
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(length);
        }
        return file;
    }
}
