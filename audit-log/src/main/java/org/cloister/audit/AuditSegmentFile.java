package org.cloister.audit;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * A segment that is appended to. Not a {@link FileChannel}: an interrupt of the thread that writes would close that, and
 * with it the log of everybody.
 */
final class AuditSegmentFile implements AutoCloseable {
    private final RandomAccessFile file;
    private long length;

    private AuditSegmentFile(RandomAccessFile file, long length) {
        this.file = file;
        this.length = length;
    }

    /** In place of what a failed try left under this name. Its name is on disk once {@link #syncFolder} returns. */
    static AuditSegmentFile create(Path path, Set<PosixFilePermission> mode) throws IOException {
        Files.deleteIfExists(path);
        Files.createFile(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        // Again, for the mask of the process.
        Files.setPosixFilePermissions(path, mode);
        return new AuditSegmentFile(new RandomAccessFile(path.toFile(), "rw"), 0);
    }

    /** @param length of what holds; what lies behind is cut off by {@link #cut} */
    static AuditSegmentFile open(Path path, long length) throws IOException {
        return new AuditSegmentFile(new RandomAccessFile(path.toFile(), "rw"), length);
    }

    long length() {
        return length;
    }

    /** On disk when it returns. When it throws, anything may lie behind {@link #length}. */
    void append(byte[] bytes) throws IOException {
        file.seek(length);
        file.write(bytes);
        file.getFD().sync();
        length += bytes.length;
    }

    /**
     * To what was appended whole.
     *
     * @return bytes cut off
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

    static void syncFolder(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
