package org.cloister.vm.system.volume;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds the machine's disks by their serials in the kernel's own records, since links in {@code /dev/disk} are udev's.
 */
public final class DisksBySerial {
    private final Path blocks;

    /**
     * Creates the finder.
     *
     * @param blocks {@code /sys/block}
     */
    public DisksBySerial(Path blocks) {
        this.blocks = blocks;
    }

    /**
     * Returns the disk with this serial.
     *
     * @throws IOException if two disks have it
     */
    public Optional<Path> find(String serial) throws IOException {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(blocks)) {
            for (Path each : all) {
                Path file = each.resolve("serial");
                if (Files.exists(file)
                        && Files.readString(file, StandardCharsets.ISO_8859_1)
                                .strip()
                                .equals(serial)) {
                    found.add(Path.of("/dev").resolve(each.getFileName()));
                }
            }
        }
        if (found.size() > 1) {
            throw new IOException("disk with the serial " + serial + ": want one, have " + found);
        }
        return found.stream().findFirst();
    }
}
