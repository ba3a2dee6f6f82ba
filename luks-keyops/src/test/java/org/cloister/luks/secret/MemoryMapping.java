package org.cloister.luks.secret;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Entry of /proc/self/smaps for the pages around an address. */
record MemoryMapping(long from, long to, String permissions, List<String> flags) {
    private static final Pattern HEAD = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) (\\S{4}) .*");

    static MemoryMapping around(long address) throws IOException {
        return all().stream()
                .filter(mapping -> mapping.has(address))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("nothing is mapped at " + Long.toHexString(address)));
    }

    static boolean exists(long address) throws IOException {
        return all().stream().anyMatch(mapping -> mapping.has(address));
    }

    private boolean has(long address) {
        return Long.compareUnsigned(from, address) <= 0 && Long.compareUnsigned(address, to) < 0;
    }

    private static List<MemoryMapping> all() throws IOException {
        List<MemoryMapping> mappings = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            Matcher head = HEAD.matcher(line);
            if (head.matches()) {
                mappings.add(new MemoryMapping(
                        Long.parseUnsignedLong(head.group(1), 16),
                        Long.parseUnsignedLong(head.group(2), 16),
                        head.group(3),
                        new ArrayList<>()));
            } else if (line.startsWith("VmFlags:")) {
                mappings.get(mappings.size() - 1)
                        .flags()
                        .addAll(List.of(line.substring(8).trim().split(" ", -1)));
            }
        }
        return mappings;
    }
}
