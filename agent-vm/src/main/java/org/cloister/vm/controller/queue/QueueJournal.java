package org.cloister.vm.controller.queue;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.Ticket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Journal of the tickets of a project's queue, in a file on its drive. Each line is one change, on the drive before the
 * call returns. A line that a crash cut short is dropped. Used by one process at a time and by one thread, except for
 * {@link #ownerOf}.
 */
public final class QueueJournal implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(QueueJournal.class);
    /** Limit of a line, which is one change of as many tickets as one pass changes. */
    private static final int MAX_LINE = 16 << 20;

    private static final int MAX_ENTRIES = 8192;
    private static final int MAX_TEXT = 2048;
    private static final Pattern ID = Ticket.ID;
    /** Lines beyond one per ticket, from which on the file is rewritten. */
    private static final int SPARE_LINES = 2000;

    private final Path file;
    private final ExclusiveLock lock;
    private final Map<String, JobTicket> entries = new LinkedHashMap<>();
    /** Owners' UIDs by ticket, of the present entries. */
    private final Map<String, Integer> owners = new ConcurrentHashMap<>();

    private FileChannel out;
    /** Bytes of the lines that were read. */
    private long completeBytes;

    private int lines;
    /** Number of lines from which on the file is rewritten. */
    private int maxLines = SPARE_LINES;

    private QueueJournal(Path file, ExclusiveLock lock, FileChannel out) {
        this.file = file;
        this.lock = lock;
        this.out = out;
    }

    /**
     * Opens the journal.
     *
     * @param file created if absent; beside it are {@code file.lock} and, for a moment, {@code file.new}
     * @throws IOException if it cannot be read or written, another process has it, or a complete line does not parse
     */
    public static QueueJournal open(Path file) throws IOException {
        ExclusiveLock lock =
                ExclusiveLock.acquire(file.resolveSibling(file.getFileName() + ".lock"), "queue journal " + file);
        try {
            QueueJournal journal = new QueueJournal(
                    file, lock, FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE));
            journal.replay();
            journal.compact();
            return journal;
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    Collection<JobTicket> entries() {
        return List.copyOf(entries.values());
    }

    /** Returns the UID of the user whose job a ticket is for; empty if there is no such ticket. Thread-safe. */
    public OptionalInt ownerOf(String ticket) {
        Integer uid = owners.get(ticket);
        return uid == null ? OptionalInt.empty() : OptionalInt.of(uid);
    }

    /** Writes all entries or, if interrupted, none. */
    void put(Collection<JobTicket> changed) {
        if (changed.isEmpty()) {
            return;
        }
        changed.forEach(this::putEntry);
        append(line(changed));
    }

    void drop(Collection<String> tickets) {
        if (tickets.isEmpty()) {
            return;
        }
        tickets.forEach(this::removeEntry);
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode list = json.putArray("drop");
        tickets.forEach(list::add);
        append(json.toString());
    }

    private void putEntry(JobTicket entry) {
        entries.put(entry.ticket(), entry);
        owners.put(entry.ticket(), entry.uid());
    }

    private void removeEntry(String ticket) {
        entries.remove(ticket);
        owners.remove(ticket);
    }

    private static String line(Collection<JobTicket> entries) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode list = json.putArray("put");
        entries.forEach(entry -> JobTicketJson.write(entry, list.addObject()));
        return json.toString();
    }

    /** Appends a line. A failed write ends the process: nothing may be done that is not recorded. */
    private void append(String line) {
        try {
            write(out, line);
            out.force(false);
            lines++;
            if (lines > maxLines && !rewrite()) {
                maxLines = lines + SPARE_LINES;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("queue journal " + file + ": cannot be written: " + e.getMessage(), e);
        }
    }

    private static void write(FileChannel to, String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            to.write(bytes);
        }
    }

    /**
     * Rewrites the file. If no file can be created, as when a member has filled the drive, the journal continues as it
     * is.
     */
    private void compact() throws IOException {
        if (!rewrite()) {
            out.truncate(completeBytes);
            out.position(completeBytes);
            out.force(true);
            AtomicFile.syncFolder(file.resolveSibling("."));
        }
    }

    private void replay() throws IOException {
        String text = Files.readString(file);
        int from = 0;
        int lineNumber = 0;
        for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
            lineNumber++;
            try {
                apply(text.substring(from, end));
            } catch (MalformedException e) {
                if (end == text.length() - 1) {
                    LOG.warn("queue journal: the last line is malformed and is dropped: {}", e.getMessage());
                    return;
                }
                throw new IOException(
                        "queue journal " + file + ": line " + lineNumber + " does not parse: " + e.getMessage()
                                + "; without the file every node and ticket is withdrawn; move it away to accept that",
                        e);
            }
            completeBytes += text.substring(from, end + 1).getBytes(StandardCharsets.UTF_8).length;
            from = end + 1;
        }
        if (from < text.length()) {
            LOG.warn("queue journal: the last line is incomplete and is dropped bytes={}", text.length() - from);
        }
    }

    private void apply(String line) throws MalformedException {
        StrictJson json = StrictJson.read(line.getBytes(StandardCharsets.UTF_8), MAX_LINE, MAX_TEXT);
        if (json.has("drop")) {
            json.texts("drop", MAX_ENTRIES, ID).forEach(this::removeEntry);
        } else {
            for (StrictJson each : json.objects("put", MAX_ENTRIES)) {
                putEntry(JobTicketJson.read(each));
            }
        }
        json.requireNothingElse();
    }

    /**
     * Writes one line per entry to a new file that replaces the old one.
     *
     * @return whether it did; otherwise the old file is unchanged
     */
    private boolean rewrite() throws IOException {
        Path newFile = file.resolveSibling(file.getFileName() + ".new");
        FileChannel next;
        try {
            next = writeNewFile(newFile);
        } catch (IOException e) {
            LOG.warn(
                    "queue journal: cannot be rewritten and keeps growing: {}; see what fills the drive", e.toString());
            return false;
        }
        out.close();
        out = next;
        lines = entries.size();
        maxLines = lines + SPARE_LINES;
        AtomicFile.syncFolder(file.resolveSibling("."));
        return true;
    }

    private FileChannel writeNewFile(Path newFile) throws IOException {
        FileChannel next = FileChannel.open(
                newFile, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        try {
            for (JobTicket entry : entries.values()) {
                write(next, line(List.of(entry)));
            }
            next.force(true);
            Files.move(newFile, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return next;
        } catch (IOException e) {
            try (next) {
                // A partial file would occupy space that others need.
                next.truncate(0);
            }
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
        lock.close();
    }
}
