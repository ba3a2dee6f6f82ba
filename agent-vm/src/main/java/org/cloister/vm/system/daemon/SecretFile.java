package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;

/**
 * A secret in a file on tmpfs, alone in its folder, for the one daemon that reads it. It is copied from locked memory
 * without touching Java's heap, and overwritten before it is deleted.
 */
public final class SecretFile {
    private static final int OWNER_READS = 0400;
    private static final String FOLDER = "rwx------";

    private final Path file;
    private final Path folder;

    /**
     * Names the file.
     *
     * @throws IllegalArgumentException if the file has no folder
     */
    public SecretFile(Path file) {
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null) {
            throw new IllegalArgumentException(file + ": want a file in a folder");
        }
        this.file = file;
        this.folder = parent;
    }

    public Path path() {
        return file;
    }

    /** Writes the secret and replaces an earlier one. Other accounts can neither read nor replace it. */
    public void write(SecretAllocator secrets, SecretMemory secret, DaemonAccount reader) throws IOException {
        erase();
        Files.createDirectories(folder);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(FOLDER));
        own(folder, reader);
        secrets.writeNew(file, OWNER_READS, secret);
        own(file, reader);
    }

    /** Overwrites and deletes the file; does nothing if it does not exist. */
    public void erase() throws IOException {
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer zeros = ByteBuffer.allocate((int) channel.size());
            while (zeros.hasRemaining()) {
                channel.write(zeros);
            }
        }
        Files.delete(file);
    }

    private static void own(Path path, DaemonAccount reader) throws IOException {
        Files.setAttribute(path, "unix:gid", reader.gid(), LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(path, "unix:uid", reader.uid(), LinkOption.NOFOLLOW_LINKS);
    }
}
