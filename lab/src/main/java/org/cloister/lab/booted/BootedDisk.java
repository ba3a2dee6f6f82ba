package org.cloister.lab.booted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;

/**
 * Disk of a release from which machines boot, made by {@code lab/disk}, and all that is needed to log in.
 *
 * @param folder contains {@code disk} (ext4), {@code vmlinuz}, {@code initrd.img}, {@code append} (words
 *     of the kernel's command line), {@code key} (root's, SSH) and {@code known_hosts}
 */
public record BootedDisk(String suite, Path folder) {
    public static BootedDisk of(LabHome home, String suite) throws IOException {
        Path link = home.cache("disks").resolve(suite);
        if (!Files.exists(link)) {
            throw new LabException("release " + suite + ": no disk at " + link, "run lab/disk " + suite);
        }
        return new BootedDisk(suite, link.toRealPath());
    }

    Path disk() {
        return folder.resolve("disk");
    }

    Path kernel() {
        return folder.resolve("vmlinuz");
    }

    Path initrd() {
        return folder.resolve("initrd.img");
    }

    /** Returns the words that the kernel's command line needs for this disk; there may be none. */
    String append() throws IOException {
        return Files.readString(folder.resolve("append")).strip();
    }

    Path key() {
        return folder.resolve("key");
    }

    Path knownHosts() {
        return folder.resolve("known_hosts");
    }
}
