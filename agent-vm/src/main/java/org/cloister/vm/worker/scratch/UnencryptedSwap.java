package org.cloister.vm.worker.scratch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.base.process.ProcessRunner;

/** Finds swap areas in {@code /proc/swaps} to which a job's memory could be written in clear. */
public final class UnencryptedSwap {
    private static final Path ALL = Path.of("/proc/swaps");

    private UnencryptedSwap() {}

    /**
     * Requires that all swap is encrypted.
     *
     * @param encrypted folders and devices whose disk is encrypted under a key of this boot
     * @throws IOException if a job's memory, or a key, could be written to a disk in clear
     */
    public static void requireNone(ProcessRunner programs, List<Path> encrypted) throws IOException {
        List<String> swaps = inClear(programs.read(ALL), encrypted);
        if (!swaps.isEmpty()) {
            throw new IOException("swap: want none, or on the scratch volume, have " + swaps
                    + "; it would write jobs' memory and keys unencrypted; switch it off");
        }
    }

    static List<String> inClear(String procSwaps, List<Path> encrypted) {
        return procSwaps
                .lines()
                .skip(1)
                .map(line -> line.split("\\s+", -1)[0])
                .filter(name -> encrypted.stream().noneMatch(Path.of(name)::startsWith))
                .toList();
    }
}
