package org.cloister.lab.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.AgentHostFiles;

/**
 * Disks of workers on all hosts, as root on a host can read them.
 *
 * @param files one for each worker with a disk
 */
public record ScratchDisks(List<Path> files) {
    private static final int KIB_BITS = 10;
    /** Length of a LUKS2 header, which is written whole when the volume is made. */
    private static final long HEADER = 16L << 20;

    public static ScratchDisks of(Lab lab) throws IOException {
        List<Path> files = new ArrayList<>();
        for (LabHost host : lab.hosts()) {
            try (Stream<Path> disks = Files.list(AgentHostFiles.scratch(host))) {
                files.addAll(disks.toList());
            }
        }
        return new ScratchDisks(List.copyOf(files));
    }

    /** Returns the number of bytes written to them behind their volumes' headers, including the file system's own. */
    public long written() throws IOException {
        long bytes = -HEADER * files.size();
        for (Path file : files) {
            String kib = LabCommand.of("du", "-k", file.toString()).succeed();
            bytes += Long.parseLong(kib.split("\t", 2)[0]) << KIB_BITS;
        }
        return bytes;
    }

    /** Returns where the marker is found on them. */
    public Set<String> found(String marker) throws IOException {
        return new MarkerSearch(marker).files(files);
    }
}
