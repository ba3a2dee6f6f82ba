package org.cloister.host.slurmstep;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.host.domain.CpuSet;
import org.cloister.host.domain.HostNumaNode;

/** Reads the host's NUMA nodes from the kernel, which numbers CPUs and nodes as cgroups do. */
final class HostNumaNodes {
    private static final String PREFIX = "node";
    private static final Pattern NODE = Pattern.compile(PREFIX + "(0|[1-9][0-9]{0,3})");

    private HostNumaNodes() {}

    /**
     * Returns the nodes that have CPUs.
     *
     * @param folder {@code /sys/devices/system/node}
     * @return empty if the kernel was built without NUMA
     */
    static List<HostNumaNode> read(Path folder) throws IOException {
        List<HostNumaNode> nodes = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, PREFIX + "*")) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                if (NODE.matcher(name).matches()) {
                    String cpus = Files.readString(entry.resolve("cpulist"), StandardCharsets.ISO_8859_1)
                            .strip();
                    if (!cpus.isEmpty()) {
                        nodes.add(node(entry, Integer.parseInt(name.substring(PREFIX.length())), cpus));
                    }
                }
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return nodes;
    }

    private static HostNumaNode node(Path entry, int number, String cpus) throws IOException {
        try {
            return new HostNumaNode(number, CpuSet.parse(cpus));
        } catch (IllegalArgumentException e) {
            throw new IOException(entry + ": " + e.getMessage(), e);
        }
    }
}
