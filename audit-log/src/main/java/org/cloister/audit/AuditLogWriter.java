package org.cloister.audit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.audit.AuditHashChain;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.SigningKey;
import org.jspecify.annotations.Nullable;

/**
 * Writes an audit log, a folder of segments: a relay's log, or a controlling VM's export log. Concurrent callers share
 * one write, one sync and one signed head. Thread-safe; it keeps the log locked until it is closed.
 */
public final class AuditLogWriter implements AutoCloseable {
    /** Holds about two million records; a verifier reads a segment in seconds. */
    static final long SEGMENT_BYTES = 64L << 20;
    /** Limit of records in a group, unless one caller brings more. */
    private static final int GROUP = 4096;

    private final AuditLogFolder folder;
    private final String relay;
    private final String log;
    private final SigningKey key;
    private final InstantSource clock;
    private final long segmentBytes;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition turned = lock.newCondition();
    // Guarded by the lock.
    private final Deque<PendingAppend> queue = new ArrayDeque<>();
    /** Highest event in the log and the queue. */
    private long lastQueued;
    /** A thread is writing. */
    private boolean writing;

    private boolean closed;

    // Only the thread that is writing uses the following fields.
    private @Nullable AuditSegmentFile segment;
    private boolean isFromOtherWriter;
    private Digest hash;
    private long count;
    /** Bytes that no head covered and whose removal the log does not record yet. */
    private long cut;

    private volatile long lastEvent;
    private volatile @Nullable SignedAuditHead head;
    private volatile boolean writable = true;

    /** Events of one caller. The lock guards their result. */
    private static final class PendingAppend {
        final List<AuditEvent> events;

        @Nullable
        SignedAuditHead covered;

        @Nullable
        IOException failure;

        PendingAppend(List<AuditEvent> events) {
            this.events = events;
        }
    }

    private AuditLogWriter(
            AuditLogFolder folder,
            String relay,
            SigningKey key,
            InstantSource clock,
            long segmentBytes,
            AuditLogFolder.RecoveredLog found) {
        this.folder = folder;
        this.relay = relay;
        this.key = key;
        this.clock = clock;
        this.segmentBytes = segmentBytes;
        this.log = found.log();
        this.segment = found.segment();
        this.isFromOtherWriter =
                found.writer().isPresent() && !found.writer().get().equals(key.verificationKey());
        this.hash = found.hash();
        this.count = found.count();
        this.lastEvent = found.event();
        this.lastQueued = found.event();
        this.head = found.head().orElse(null);
        this.cut = found.cut();
    }

    /**
     * Opens the log or creates one. Removes what a crash left after the last signed head, and records the removal.
     *
     * @param folder created if it does not exist
     * @param relay dNSName of the relay, or of the VM
     * @param key the relay's own; a new key starts a new segment
     * @throws IOException if another process has it open, or its content is invalid; the text names file, record and
     *     remedy
     */
    public static AuditLogWriter open(Path folder, String relay, SigningKey key, InstantSource clock)
            throws IOException {
        return open(folder, relay, key, clock, SEGMENT_BYTES);
    }

    /** Opens a log that every user of the machine may read; otherwise as {@link #open}. */
    public static AuditLogWriter openForAll(Path folder, String writer, SigningKey key, InstantSource clock)
            throws IOException {
        return open(AuditLogFolder.lock(folder, AuditLogFolder.Readers.ALL), writer, key, clock, SEGMENT_BYTES);
    }

    static AuditLogWriter open(Path path, String relay, SigningKey key, InstantSource clock, long segmentBytes)
            throws IOException {
        return open(AuditLogFolder.lock(path, AuditLogFolder.Readers.GROUP), relay, key, clock, segmentBytes);
    }

    private static AuditLogWriter open(
            AuditLogFolder folder, String relay, SigningKey key, InstantSource clock, long segmentBytes)
            throws IOException {
        try {
            AuditLogFolder.RecoveredLog found = folder.recover(relay);
            AuditLogWriter log = new AuditLogWriter(folder, relay, key, clock, segmentBytes, found);
            log.startSegment();
            return log;
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    private void startSegment() throws IOException {
        if (head != null && cut == 0 && !isFromOtherWriter) {
            return;
        }
        try {
            commit(List.of());
        } catch (IOException e) {
            // An existing log may be continued when there is space again; tickets still end and are cleaned up.
            writable = false;
            if (head == null) {
                throw e;
            }
        }
    }

    /** Returns the highest outbox id in the log; 0 if it has none. */
    public long lastEvent() {
        return lastEvent;
    }

    /** Returns the newest head. */
    public SignedAuditHead head() {
        SignedAuditHead newest = head;
        if (newest == null) {
            throw new IllegalStateException("audit log: an open one has a head");
        }
        return newest;
    }

    /** Returns whether the last append succeeded. The first append that succeeds after a failure repairs the log. */
    public boolean isWritable() {
        return writable;
    }

    /** Returns the free bytes of the log's file system; 0 if they cannot be determined. */
    public long freeBytes() {
        return folder.freeBytes();
    }

    /**
     * Appends one group, possibly together with those of other callers. All of it is on disk under a signed head when
     * this returns.
     *
     * @param events those with an id in ascending order, above {@link #lastEvent}
     * @return a head that covers them
     * @throws IOException if they could not be written; then none of them is in the log, and they may be appended again
     */
    public SignedAuditHead append(List<AuditEvent> events) throws IOException {
        if (events.isEmpty()) {
            return head();
        }
        PendingAppend own = new PendingAppend(List.copyOf(events));
        lock.lock();
        try {
            enqueue(own);
            while (own.covered == null && own.failure == null) {
                if (writing) {
                    turned.awaitUninterruptibly();
                } else {
                    writeQueued();
                }
            }
            if (own.failure != null) {
                throw new IOException(own.failure.getMessage(), own.failure);
            }
            return Objects.requireNonNull(own.covered);
        } finally {
            lock.unlock();
        }
    }

    private void enqueue(PendingAppend own) throws IOException {
        if (closed) {
            throw new IOException("audit log " + folder + ": closed; start its daemon");
        }
        long after = lastQueued;
        for (AuditEvent event : own.events) {
            if (event.event() != 0 && event.event() <= after) {
                throw new IllegalArgumentException(
                        "audit log: want an event after " + after + ", have " + event.event());
            }
            after = Math.max(after, event.event());
        }
        lastQueued = after;
        queue.add(own);
    }

    /**
     * Writes a group without the lock, so that others queue for the next one, and completes the appends of the group.
     */
    private void writeQueued() {
        List<PendingAppend> group = new ArrayList<>();
        List<AuditEvent> events = new ArrayList<>();
        while (!queue.isEmpty()
                && (group.isEmpty() || events.size() + queue.element().events.size() <= GROUP)) {
            PendingAppend next = queue.remove();
            group.add(next);
            events.addAll(next.events);
        }
        writing = true;
        lock.unlock();
        IOException failure =
                new IOException("audit log " + folder + ": writing was given up; see its daemon's messages");
        SignedAuditHead covers = null;
        try {
            commit(events);
            covers = head();
        } catch (IOException e) {
            failure = e;
        } finally {
            lock.lock();
            writing = false;
            if (covers == null) {
                fail(group, failure);
            }
            for (PendingAppend each : group) {
                each.covered = covers;
            }
            turned.signalAll();
        }
    }

    /** Fails the group and all waiting appends, so that no event enters the log before one with a lower id. */
    private void fail(List<PendingAppend> group, IOException failure) {
        writable = false;
        group.addAll(queue);
        queue.clear();
        lastQueued = lastEvent;
        group.forEach(each -> each.failure = failure);
    }

    private void commit(List<AuditEvent> events) throws IOException {
        AuditSegmentFile current = segment;
        if (!writable && current != null) {
            cut += current.cut();
        }
        AuditHashChain chain = new AuditHashChain(hash);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(512 * (events.size() + 3));
        boolean rotates = current == null || isFromOtherWriter || current.length() >= segmentBytes;
        AuditSegmentHeader start =
                new AuditSegmentHeader(relay, log, count + 1, hash, lastEvent, key.verificationKey());
        if (rotates) {
            add(bytes, chain, start.line());
        }
        long number = count;
        long event = lastEvent;
        List<AuditEvent> all = own();
        all.addAll(events);
        for (AuditEvent each : all) {
            add(bytes, chain, AuditRecord.of(++number, each).line());
            event = Math.max(event, each.event());
        }
        SignedAuditHead signed = sign(new AuditHead(relay, log, number, chain.value(), clock.instant()));
        add(bytes, chain, signed.envelope().bytes());
        if (current == null || rotates) {
            segment = folder.createSegment(start.fileName(), bytes.toByteArray());
            isFromOtherWriter = false;
        } else {
            current.append(bytes.toByteArray());
        }
        hash = chain.value();
        count = number;
        cut = 0;
        lastEvent = event;
        head = signed;
        writable = true;
        if (current != null && rotates) {
            close(current);
        }
    }

    /** Closes a finished segment. Everything in it is on disk, so a failure to close it has no consequence. */
    private static void close(AuditSegmentFile done) {
        try {
            done.close();
        } catch (IOException e) {
            // The kernel closes it at the latest when the process ends.
            return;
        }
    }

    /** Returns the events that the log records about itself. */
    private List<AuditEvent> own() {
        List<AuditEvent> own = new ArrayList<>();
        if (head == null) {
            own.add(AuditEvent.of(clock.instant(), "log.begun"));
        }
        if (cut > 0) {
            own.add(AuditEvent.of(clock.instant(), "log.recovered").with(AuditField.BYTES, cut));
        }
        if (isFromOtherWriter) {
            own.add(AuditEvent.of(clock.instant(), "log.signer")
                    .with(AuditField.SIGNER, key.verificationKey().id()));
        }
        return own;
    }

    private SignedAuditHead sign(AuditHead next) throws IOException {
        try {
            return next.sign(key);
        } catch (GeneralSecurityException e) {
            throw new IOException(
                    "audit log " + folder + ": cannot sign head " + next.count() + ": " + e.getMessage(), e);
        }
    }

    private static void add(ByteArrayOutputStream bytes, AuditHashChain chain, byte[] line) {
        chain.add(line);
        bytes.writeBytes(line);
        bytes.write('\n');
    }

    /** Closes the log after the appends that wait. Later appends are rejected. */
    @Override
    public void close() throws IOException {
        lock.lock();
        try {
            closed = true;
            while (writing || !queue.isEmpty()) {
                turned.awaitUninterruptibly();
            }
            if (segment != null) {
                segment.close();
            }
        } finally {
            folder.close();
            lock.unlock();
        }
    }
}
