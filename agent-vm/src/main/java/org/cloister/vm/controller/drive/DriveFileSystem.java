package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.base.process.ProcessRunner;

/** Creates the ext4 file system of a drive, and repairs and verifies it before the kernel mounts it. */
final class DriveFileSystem {
    private static final Duration CREATE_LIMIT = Duration.ofMinutes(5);
    private static final Duration REPAIR_LIMIT = Duration.ofMinutes(15);
    /** Runs e2fsck, and nothing else: no login, daemon or member of a project has this UID. */
    private static final int REPAIR_UID = 65_532;

    private final ProcessRunner programs;
    private final Path device;

    DriveFileSystem(ProcessRunner programs, Path device) {
        this.programs = programs;
        this.device = device;
    }

    void create() throws IOException {
        List<String> command = List.of(
                "mkfs.ext4",
                "-q",
                "-O",
                "none," + String.join(",", Ext4Superblock.FEATURES),
                "-E",
                "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
                device.toString());
        ProcessRunner.Output output = programs.run("", command, CREATE_LIMIT);
        if (output.exit() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.errorSummary());
        }
    }

    /**
     * Repairs the file system and compares its superblock with what is created.
     *
     * @throws IOException if e2fsck does not repair it all, or the superblock differs: do not mount it
     */
    void repair() throws IOException {
        E2fsckResult result = runE2fsck();
        if (!result.isRepaired()) {
            throw new IOException(result.explanation(device));
        }
        ByteBuffer head = ByteBuffer.allocate(Ext4Superblock.LENGTH);
        try (FileChannel channel = FileChannel.open(device, StandardOpenOption.READ)) {
            while (head.hasRemaining() && channel.read(head, Ext4Superblock.AT + head.position()) > 0) {
                // reads until the buffer is full or the device ends
            }
        }
        Optional<String> difference = Ext4Superblock.difference(head.array());
        if (difference.isPresent()) {
            throw new IOException(device + ": " + difference.get()
                    + "; it was changed with the drive's key: see which host opened it last");
        }
    }

    /**
     * Runs e2fsck as a user that can access only this device and has no capabilities: e2fsck is a large program that
     * reads data which a holder of the key could have written.
     */
    private E2fsckResult runE2fsck() throws IOException {
        List<String> command = List.of(
                "setpriv",
                "--reuid=" + REPAIR_UID,
                "--regid=" + REPAIR_UID,
                "--clear-groups",
                "--inh-caps=-all",
                "--no-new-privs",
                "e2fsck",
                "-p",
                device.toString());
        Files.setAttribute(device, "unix:uid", REPAIR_UID);
        try {
            return new E2fsckResult(programs.run("", command, REPAIR_LIMIT));
        } finally {
            Files.setAttribute(device, "unix:uid", 0);
        }
    }
}
