package org.cloister.host.drive;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;

/**
 * Files of one drive, locked so that no other process changes the lease. The lock is the kernel's and ends with the
 * process.
 */
final class LockedDrive implements AutoCloseable {
    private static final long MIB = 1 << 20;
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path image;
    private final Path lease;
    private final FileChannel lock;

    private LockedDrive(Path image, Path lease, FileChannel lock) {
        this.image = image;
        this.lease = lease;
        this.lock = lock;
    }

    /**
     * Locks a drive.
     *
     * @param drives folder of all drives
     * @throws IOException also if the project's folder does not exist
     */
    static LockedDrive of(Path drives, DriveName name) throws IOException {
        FileChannel lock = FileChannel.open(
                name.lock(drives),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PRIVATE);
        try {
            lock.lock();
            return new LockedDrive(name.image(drives), name.lease(drives), lock);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /**
     * Returns the lease.
     *
     * @return empty if the drive was never acquired
     */
    Optional<DriveLease> lease() throws IOException {
        return read(lease);
    }

    static Optional<DriveLease> read(Path lease) throws IOException {
        byte[] document;
        try (InputStream in = Files.newInputStream(lease, LinkOption.NOFOLLOW_LINKS)) {
            document = in.readNBytes(DriveLease.MAX_BYTES + 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        try {
            return Optional.of(DriveLease.read(document));
        } catch (MalformedException e) {
            throw new MalformedException(lease + ": " + e.getMessage(), e);
        }
    }

    /** Writes the lease; it is on disk when this returns. */
    void writeLease(DriveLease next) throws IOException {
        AtomicFile.replace(lease, next.write());
    }

    /**
     * Returns whether the drive's image exists.
     *
     * @throws IOException if that is not known
     */
    boolean hasImage() throws IOException {
        return AtomicFile.exists(image, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Creates a sparse image, completely or not at all; it is on disk when this returns.
     *
     * @throws IOException also if a file exists there, which is never replaced
     */
    void createImage(long mib) throws IOException {
        Path fresh = image.resolveSibling(image.getFileName() + ".new");
        Files.deleteIfExists(fresh);
        try (FileChannel channel =
                FileChannel.open(fresh, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), PRIVATE)) {
            channel.write(ByteBuffer.allocate(1), mib * MIB - 1);
            channel.force(true);
        }
        // A rename would replace an existing drive.
        Files.createLink(image, fresh);
        Files.delete(fresh);
        AtomicFile.syncFolder(image.resolveSibling("."));
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
