package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * A raw disk file.
 *
 * @param serial by which the guest finds it
 */
public record DomainDisk(Path file, String serial, Use use) {
    /** A virtio serial holds 20 bytes. */
    private static final Pattern SERIAL = Pattern.compile("[a-z][a-z0-9-]{0,19}");

    /** What a disk is for. */
    public enum Use {
        /** One of the image's layers: read-only, and in the host's page cache once for all VMs. */
        LAYER,
        /**
         * Written by the guest, which encrypts it: past the page cache, whose pages would count in the step's cgroup and
         * which is of no use for what is read once. Its file system must know O_DIRECT; tmpfs before Linux 6.6 does not.
         */
        WRITABLE
    }

    /** @throws IllegalArgumentException if a value is not of its form */
    public DomainDisk {
        DomainPaths.require("disk", file);
        if (!SERIAL.matcher(serial).matches()) {
            throw new IllegalArgumentException("disk serial: want " + SERIAL + ", have \"" + serial + "\"");
        }
    }
}
