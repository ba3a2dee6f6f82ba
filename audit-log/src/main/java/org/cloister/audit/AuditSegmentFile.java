package org.cloister.audit;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.cloister.base.file.AtomicFile;

/**
 * Segment file open for appending. It is not a {@link FileChannel}: an interrupt of the writing thread would close
 * that, and with it the log of all callers.
 */
final class AuditSegmentFile implements AutoCloseable {
    private final RandomAccessFile file;
    private long length;

    private AuditSegmentFile(RandomAccessFile file, long length) {
        this.file = file;
        this.length = length;
    }

    /**
     * Creates the file and replaces what a failed attempt left under this name. The name is on disk after
     * {@link AtomicFile#syncFolder} returns.
     */
    static AuditSegmentFile create(Path path, Set<PosixFilePermission> mode) throws IOException {
        Files.deleteIfExists(path);
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        // Sets the mode explicitly, because the process's umask applies at the creation.
        Files.setPosixFilePermissions(path, mode);
        return new AuditSegmentFile(new RandomAccessFile(path.toFile(), "rw"), 0);
    }

    /**
     * Opens a segment for appending.
     *
     * @param length of the valid part; {@link #cut} removes what follows it
     */
    static AuditSegmentFile open(Path path, long length) throws IOException {
        return new AuditSegmentFile(new RandomAccessFile(path.toFile(), "rw"), length);
    }

    long length() {
        return length;
    }

    /** Appends and syncs the bytes. After an exception any bytes may follow {@link #length}. */
    void append(byte[] bytes) throws IOException {
        file.seek(length);
        file.write(bytes);
        file.getFD().sync();
        length += bytes.length;
    }

    /**
     * Truncates the file to what was appended completely.
     *
     * @return number of removed bytes
     */
    long cut() throws IOException {
        long cut = file.length() - length;
        file.setLength(length);
        file.getFD().sync();
        return cut;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
