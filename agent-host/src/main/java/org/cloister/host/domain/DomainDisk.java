package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Raw disk file of a domain.
 *
 * @param serial by which the guest finds the disk
 */
public record DomainDisk(Path file, String serial, Use use) {
    /** Form of a serial: virtio has 20 bytes for it. */
    private static final Pattern SERIAL = Pattern.compile("[a-z][a-z0-9-]{0,19}");

    /** Use of a disk. */
    public enum Use {
        /** Layer of the image: read-only, and cached once in the host's page cache for all VMs. */
        LAYER,
        /**
         * Written by the guest, which encrypts it. It bypasses the page cache, whose pages would count in the step's
         * cgroup and which does not help data that is read once. Its file system must support O_DIRECT; tmpfs before
         * Linux 6.6 does not.
         */
        WRITABLE
    }

    /** @throws IllegalArgumentException if a value does not have its form */
    public DomainDisk {
        DomainPaths.require("disk", file);
        if (!SERIAL.matcher(serial).matches()) {
            throw new IllegalArgumentException("disk serial: want " + SERIAL + ", have \"" + serial + "\"");
        }
    }
}
