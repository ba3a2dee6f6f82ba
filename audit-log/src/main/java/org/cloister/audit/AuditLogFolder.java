package org.cloister.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.protocol.audit.AuditHashChain;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.VerificationKey;
import org.jspecify.annotations.Nullable;

/** Folder of an audit log, locked by one process at a time. */
final class AuditLogFolder implements AutoCloseable {
    private static final int ID_BYTES = 16;

    private final Path path;
    private final ExclusiveLock lock;
    private final Readers readers;

    /** Users beside the writer who may read a log. */
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
     * State of the folder after recovery.
     *
     * @param segment to continue; null if a new one begins
     * @param writer the key whose heads the segment has
     * @param cut number of bytes that were removed because no head covered them
     */
    record RecoveredLog(
            String log,
            @Nullable AuditSegmentFile segment,
            Optional<VerificationKey> writer,
            Digest hash,
            long count,
            long event,
            Optional<SignedAuditHead> head,
            long cut) {}

    private AuditLogFolder(Path path, ExclusiveLock lock, Readers readers) {
        this.path = path;
        this.lock = lock;
        this.readers = readers;
    }

    /**
     * Locks the folder.
     *
     * @throws IOException if another process has locked it
     */
    static AuditLogFolder lock(Path path, Readers readers) throws IOException {
        Files.createDirectories(
                path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(readers.folder)));
        return new AuditLogFolder(path, ExclusiveLock.acquire(path.resolve("lock"), "audit log " + path), readers);
    }

    /** Removes what no head covers, and syncs the rest to disk. */
    RecoveredLog recover(String relay) throws IOException {
        List<Path> segments = segments();
        long cut = 0;
        Optional<SegmentTail> tail = Optional.empty();
        int last = segments.size() - 1;
        if (last >= 0) {
            tail = SegmentTail.read(segments.get(last));
        }
        if (last >= 0 && tail.isEmpty()) {
            Path torn = segments.get(last);
            boolean first = torn.endsWith(AuditSegmentHeader.fileName(1));
            if (last == 0 && !first) {
                throw new IOException("audit log " + torn + ": has no whole group, and the segment before is not there;"
                        + " put that back, the relay continues from it");
            }
            cut = Files.size(torn);
            if (last > 0) {
                tail = SegmentTail.read(segments.get(last - 1));
                if (tail.isEmpty()) {
                    throw new IOException("audit log " + segments.get(last - 1)
                            + ": has no whole group, and it isn't the newest; put it back from a copy");
                }
            }
            Files.delete(torn);
            AtomicFile.syncFolder(path);
            last--;
        }
        if (tail.isEmpty()) {
            return new RecoveredLog(newId(), null, Optional.empty(), AuditHashChain.EMPTY, 0, 0, Optional.empty(), cut);
        }
        SegmentTail have = tail.get();
        if (!have.start().relay().equals(relay)) {
            throw new IOException("audit log " + path + ": want the log of " + relay + ", have that of "
                    + have.start().relay() + "; give each relay a folder of its own");
        }
        AuditSegmentFile segment = AuditSegmentFile.open(segments.get(last), have.end());
        cut += segment.cut();
        AtomicFile.syncFolder(path);
        return new RecoveredLog(
                have.start().log(),
                segment,
                Optional.of(have.start().key()),
                have.hash(),
                have.head().head().count(),
                have.event(),
                Optional.of(have.head()),
                cut);
    }

    /**
     * Creates a segment with its first group. The segment is on disk when this returns; when it throws, the segment is
     * deleted if the disk permits that.
     */
    AuditSegmentFile createSegment(String name, byte[] group) throws IOException {
        Path file = path.resolve(name);
        AuditSegmentFile segment = AuditSegmentFile.create(file, PosixFilePermissions.fromString(readers.segment));
        try {
            segment.append(group);
            AtomicFile.syncFolder(path);
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
            return files.filter(file -> AuditSegmentHeader.FILE
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
