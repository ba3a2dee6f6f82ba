package org.cloister.ctl.host;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.cloister.base.file.AtomicFile;
import org.cloister.preflight.QemuSettings;

/** File of the settings with which libvirt runs QEMU, as root changes it. */
record QemuSettingsFile(Path file) {
    private static final int MAX_BYTES = 1 << 20;

    /**
     * Adds the setting that has libvirt leave QEMU in its job's cgroup, unless it is there.
     *
     * @return whether the file was changed
     * @throws IOException also if the setting has another value, which stays
     */
    boolean removeOwnCgroups() throws IOException {
        if (!AtomicFile.exists(file)) {
            if (!Files.isDirectory(file.resolveSibling("."))) {
                throw new IOException(file + ": there is no folder for it; install libvirt first: "
                        + "apt-get install libvirt-daemon-system, or dnf install libvirt");
            }
            AtomicFile.create(file, bytes(edited("")));
            return true;
        }
        // One character for each byte, so that bytes of any encoding stay as they are.
        String present = new String(AtomicFile.read(file, MAX_BYTES), StandardCharsets.ISO_8859_1);
        String next = edited(present);
        if (next.equals(present)) {
            return false;
        }
        AtomicFile.rewrite(file, bytes(next));
        return true;
    }

    /** Returns when the file was changed last. */
    Instant changeTime() throws IOException {
        return Files.getLastModifiedTime(file).toInstant();
    }

    private String edited(String text) throws IOException {
        try {
            return QemuSettings.parse(text).withoutOwnCgroups();
        } catch (IOException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
