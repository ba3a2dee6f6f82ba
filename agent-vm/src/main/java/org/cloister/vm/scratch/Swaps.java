package org.cloister.vm.scratch;

import java.nio.file.Path;
import java.util.List;

/** What of {@code /proc/swaps} a job's memory could be written to in clear. */
final class Swaps {
    private Swaps() {}

    /** @param encrypted folders and devices whose disk is encrypted under a key of this boot's */
    static List<String> inClear(String procSwaps, List<Path> encrypted) {
        return procSwaps
                .lines()
                .skip(1)
                .map(line -> line.split("\\s+", -1)[0])
                .filter(name -> encrypted.stream().noneMatch(Path.of(name)::startsWith))
                .toList();
    }
}
