package org.cloister.base.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/**
 * Exclusive use of a resource by one process, through a lock of the kernel: it is released when the process ends,
 * however that ends.
 */
public final class ExclusiveLock implements AutoCloseable {
    private final FileChannel channel;

    private ExclusiveLock(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Acquires the lock.
     *
     * @param lock a file used for nothing else; created if it does not exist, and never deleted
     * @param what resource that is locked, for the message
     * @throws IOException if it is locked, even by this process
     */
    public static ExclusiveLock acquire(Path lock, String what) throws IOException {
        return tryAcquire(lock)
                .orElseThrow(() -> new IOException(what + ": another process has locked it; stop that process"));
    }

    /**
     * Acquires the lock; empty if it is locked. Must not be called for a lock that this process holds: the kernel then
     * releases it (fcntl_locking(2): closing any descriptor of the file does).
     */
    public static Optional<ExclusiveLock> tryAcquire(Path lock) throws IOException {
        FileChannel channel = FileChannel.open(
                lock,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        boolean ours = false;
        try {
            ours = isFree(channel);
        } finally {
            if (!ours) {
                channel.close();
            }
        }
        return ours ? Optional.of(new ExclusiveLock(channel)) : Optional.empty();
    }

    private static boolean isFree(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
