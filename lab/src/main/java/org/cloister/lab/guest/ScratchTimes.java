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
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.scratch.Scratch;
import org.cloister.vm.scratch.ScratchPlan;

/**
 * A worker's scratch as agent-vm makes it, beside the same file system on a disk of the same size without encryption: a file
 * written through to the disk, and read back from it. Prints {@code METRIC ours|peer VALUE} lines, in MB/s.
 */
public final class ScratchTimes {
    private static final Path PLAIN = Path.of("/run/plain");
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final Pattern RATE = Pattern.compile("(\\d+) bytes .* copied, ([0-9.e-]+) s,");

    private final Programs programs = Programs.ofThisMachine();
    private final String mib;

    private ScratchTimes(String mib) {
        this.mib = mib;
    }

    /** @param args disk for ours, disk for the peer, rounds, MiB of a file */
    public static void main(String[] args) throws IOException {
        ScratchTimes times = new ScratchTimes(args[3]);
        ScratchPlan plan = ScratchPlan.of(Path.of(args[0]), "worker/lab.0");
        Scratch scratch = new Scratch(
                times.programs,
                Secrets.open(Secrets.Locking.REQUIRED),
                Cryptsetup.load(),
                InstantSource.system(),
                plan);
        scratch.open();
        times.plain(args[1]);
        int rounds = Integer.parseInt(args[2]);
        for (int i = -1; i < rounds; i++) {
            for (boolean ours : i % 2 == 0 ? List.of(true, false) : List.of(false, true)) {
                times.copy(ours ? plan.at() : PLAIN, ours ? "ours" : "peer", i >= 0);
            }
        }
        times.programs.succeed("umount", PLAIN.toString());
        if (scratch.end().erased().isEmpty()) {
            throw new IOException("scratch: want it erased");
        }
    }

    /** With the file system that Scratch makes. */
    private void plain(String disk) throws IOException {
        Files.createDirectories(PLAIN);
        List<String> make = new ArrayList<>(Scratch.FILE_SYSTEM);
        make.add(disk);
        programs.succeed(make.toArray(String[]::new));
        programs.succeed("mount", "-t", "ext4", "-o", "nosuid,nodev,noatime", disk, PLAIN.toString());
    }

    private void copy(Path at, String side, boolean counts) throws IOException {
        Path file = at.resolve("f");
        String count = "count=" + mib;
        double write = rate("dd", "if=/dev/zero", "of=" + file, "bs=1M", count, "conv=fsync");
        programs.succeed("sysctl", "-q", "-w", "vm.drop_caches=3");
        double read = rate("dd", "if=" + file, "of=/dev/null", "bs=1M", count);
        Files.delete(file);
        if (counts) {
            System.out.println("write " + side + " " + write);
            System.out.println("read " + side + " " + read);
        }
    }

    private double rate(String... command) throws IOException {
        Programs.Output output = programs.run("", List.of(command), LIMIT);
        Matcher rate = RATE.matcher(output.err());
        if (output.exit() != 0 || !rate.find()) {
            throw new IOException("dd: " + output.complaint());
        }
        return Double.parseDouble(rate.group(1)) / Double.parseDouble(rate.group(2)) / 1e6;
    }
}
