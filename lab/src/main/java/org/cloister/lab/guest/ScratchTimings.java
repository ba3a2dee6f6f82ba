package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.vm.worker.scratch.ScratchPlan;
import org.cloister.vm.worker.scratch.ScratchVolume;

/**
 * Measures a worker's scratch as agent-vm makes it, compared with the same file system on a disk of the same size
 * without encryption: a file written through to the disk, and read back from it. Prints {@code METRIC ours|peer VALUE}
 * lines, in MB/s.
 */
public final class ScratchTimings {
    private static final Path PLAIN = Path.of("/run/plain");
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Pattern RATE = Pattern.compile("(\\d+) bytes .* copied, ([0-9.e-]+) s,");

    private final ProcessRunner programs = ProcessRunner.local();
    private final String mib;

    private ScratchTimings(String mib) {
        this.mib = mib;
    }

    /** @param args disk for ours, disk for the peer, rounds, MiB of a file */
    public static void main(String[] args) throws IOException {
        ScratchTimings times = new ScratchTimings(args[3]);
        ScratchPlan plan = ScratchPlan.of(Path.of(args[0]), "worker/lab.0");
        ScratchVolume scratch = new ScratchVolume(
                times.programs,
                SecretAllocator.open(SecretAllocator.Locking.REQUIRED),
                Cryptsetup.load(),
                InstantSource.system(),
                plan);
        scratch.open();
        times.plain(args[1]);
        int repetitions = Integer.parseInt(args[2]);
        for (int i = -1; i < repetitions; i++) {
            for (boolean ours : i % 2 == 0 ? List.of(true, false) : List.of(false, true)) {
                times.copy(ours ? plan.mountPoint() : PLAIN, ours ? "ours" : "peer", i >= 0);
            }
        }
        times.programs.runChecked("umount", PLAIN.toString());
        if (scratch.erase().erased().isEmpty()) {
            throw new IOException("scratch: want it erased");
        }
    }

    /** Creates the file system that Scratch makes, without encryption. */
    private void plain(String disk) throws IOException {
        Files.createDirectories(PLAIN);
        List<String> make = new ArrayList<>(ScratchVolume.FILE_SYSTEM);
        make.add(disk);
        programs.runChecked(make.toArray(String[]::new));
        programs.runChecked("mount", "-t", "ext4", "-o", "nosuid,nodev,noatime", disk, PLAIN.toString());
    }

    private void copy(Path at, String side, boolean counts) throws IOException {
        Path file = at.resolve("f");
        String count = "count=" + mib;
        double write = rate("dd", "if=/dev/zero", "of=" + file, "bs=1M", count, "conv=fsync");
        programs.runChecked("sysctl", "-q", "-w", "vm.drop_caches=3");
        double read = rate("dd", "if=" + file, "of=/dev/null", "bs=1M", count);
        Files.delete(file);
        if (counts) {
            System.out.println("write " + side + " " + write);
            System.out.println("read " + side + " " + read);
        }
    }

    private double rate(String... command) throws IOException {
        ProcessRunner.Output output = programs.run("", List.of(command), LIMIT);
        Matcher rate = RATE.matcher(output.err());
        if (output.exit() != 0 || !rate.find()) {
            throw new IOException("dd: " + output.errorSummary());
        }
        return Double.parseDouble(rate.group(1)) / Double.parseDouble(rate.group(2)) / 1e6;
    }
}
