package org.cloister.protocol.audit.log;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.Digest;
import org.cloister.protocol.audit.HashChain;
import org.cloister.protocol.audit.SegmentStart;
import org.cloister.protocol.audit.SignedHead;
import org.cloister.protocol.dsse.VerificationKey;
import org.jspecify.annotations.Nullable;

/** The folder of an audit log, for one process at a time. */
final class LogFolder implements AutoCloseable {
    private static final int ID_BYTES = 16;

    private final Path path;
    private final FileChannel lock;
    private final Readers readers;

    /** Who, beside its writer, reads a log. */
    enum Readers {
        GROUP("rwxr-x---", "rw-r-----"),
        ALL("rwxr-xr-x", "rw-r--r--");

        private final String folder;
        private final String segment;

        Readers(String folder, String segment) {
            this.folder = folder;
            this.segment = segment;
        }
    }

    /**
     * What the folder has.
     *
     * @param segment to continue, null if a new one begins
     * @param begunBy whose heads it has
     * @param cut bytes that no head covered
     */
    record Found(
            String log,
            @Nullable SegmentFile segment,
            Optional<VerificationKey> begunBy,
            Digest hash,
            long count,
            long event,
            Optional<SignedHead> head,
            long cut) {}

    private LogFolder(Path path, FileChannel lock, Readers readers) {
        this.path = path;
        this.lock = lock;
        this.readers = readers;
    }

    /** @throws IOException if another has it */
    static LogFolder lock(Path path, Readers readers) throws IOException {
        Files.createDirectories(
                path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(readers.folder)));
        FileChannel lock = FileChannel.open(
                path.resolve("lock"),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        boolean ours = false;
        try {
            ours = isFree(lock);
        } finally {
            if (!ours) {
                lock.close();
            }
        }
        if (!ours) {
            throw new IOException("audit log " + path + ": want it alone, another process has it; stop that one");
        }
        return new LogFolder(path, lock, readers);
    }

    private static boolean isFree(FileChannel lock) throws IOException {
        try {
            return lock.tryLock() != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    /** Cuts off what no head covers, and puts what remains on disk. */
    Found recover(String relay) throws IOException {
        List<Path> segments = segments();
        long cut = 0;
        Optional<LogTail> tail = Optional.empty();
        int last = segments.size() - 1;
        if (last >= 0) {
            tail = LogTail.read(segments.get(last));
        }
        if (last >= 0 && tail.isEmpty()) {
            Path torn = segments.get(last);
            boolean first = torn.endsWith(SegmentStart.fileName(1));
            if (last == 0 && !first) {
                throw new IOException("audit log " + torn + ": has no whole group, and the segment before is not there;"
                        + " put that back, the relay continues from it");
            }
            cut = Files.size(torn);
            if (last > 0) {
                tail = LogTail.read(segments.get(last - 1));
                if (tail.isEmpty()) {
                    throw new IOException("audit log " + segments.get(last - 1)
                            + ": has no whole group, and it isn't the newest; put it back from a copy");
                }
            }
            Files.delete(torn);
            SegmentFile.syncFolder(path);
            last--;
        }
        if (tail.isEmpty()) {
            return new Found(newId(), null, Optional.empty(), HashChain.EMPTY, 0, 0, Optional.empty(), cut);
        }
        LogTail have = tail.get();
        if (!have.start().relay().equals(relay)) {
            throw new IOException("audit log " + path + ": want the log of " + relay + ", have that of "
                    + have.start().relay() + "; give each relay a folder of its own");
        }
        SegmentFile segment = SegmentFile.open(segments.get(last), have.end());
        cut += segment.cut();
        SegmentFile.syncFolder(path);
        return new Found(
                have.start().log(),
                segment,
                Optional.of(have.start().key()),
                have.hash(),
                have.head().head().count(),
                have.event(),
                Optional.of(have.head()),
                cut);
    }

    /** A new segment with its first group; on disk when it returns, gone when it throws, if the disk lets it go. */
    SegmentFile begin(String name, byte[] group) throws IOException {
        Path file = path.resolve(name);
        SegmentFile segment = SegmentFile.create(file, PosixFilePermissions.fromString(readers.segment));
        try {
            segment.append(group);
            SegmentFile.syncFolder(path);
            return segment;
        } catch (IOException e) {
            try {
                segment.close();
                Files.deleteIfExists(file);
            } catch (IOException also) {
                e.addSuppressed(also);
            }
            throw e;
        }
    }

    private List<Path> segments() throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> SegmentStart.FILE
                            .matcher(file.getFileName().toString())
                            .matches())
                    .sorted()
                    .toList();
        }
    }

    private static String newId() {
        byte[] id = new byte[ID_BYTES];
        new SecureRandom().nextBytes(id);
        return BinaryText.base32(id);
    }

    long freeBytes() {
        return path.toFile().getUsableSpace();
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }

    @Override
    public String toString() {
        return path.toString();
    }
}
