package org.cloister.host.reconcile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32C;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.daemon.ProcessAbort;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Append-only file of lines, each preceded by its checksum (CRC-32C, in hex) and on disk before a call returns. A last
 * line that a crash truncated is ignored: the change that it describes was not started. For one process at a time, and
 * not thread-safe.
 */
final class LedgerJournal implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LedgerJournal.class);
    private static final String HEADER = "cloister-host-ledger 1";
    private static final int MAX_FILE = 32 << 20;
    private static final int SUM_LETTERS = 8;
    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path file;
    private final ExclusiveLock lock;
    private final ProcessAbort fatal;
    private FileChannel out;
    /** Length in bytes of the lines that were read. */
    private long whole;

    private int lines;
    private boolean broken;

    private LedgerJournal(Path file, ExclusiveLock lock, FileChannel out, ProcessAbort fatal) {
        this.file = file;
        this.lock = lock;
        this.fatal = fatal;
        this.out = out;
    }

    /**
     * Opens the file. Call {@link #read} next, then {@link #rewrite} or {@link #continueAfterRead}, then {@link
     * #append}.
     *
     * @param file created if it does not exist; beside it are {@code file.lock} and, briefly, {@code file.new}
     * @param fatal ends the process when the content of the disk is unknown
     */
    static LedgerJournal open(Path file, ProcessAbort fatal) throws IOException {
        ExclusiveLock lock = ExclusiveLock.acquire(beside(file, ".lock"), "ledger " + file);
        try {
            return new LedgerJournal(
                    file, lock, channel(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE), fatal);
        } catch (IOException e) {
            lock.close();
            throw e;
        }
    }

    private static FileChannel channel(Path file, OpenOption... options) throws IOException {
        return FileChannel.open(file, Set.of(options), PRIVATE);
    }

    private static Path beside(Path file, String suffix) {
        return file.resolveSibling(file.getFileName() + suffix);
    }

    List<JournalRecord> read() throws IOException {
        long size = Files.size(file);
        if (size > MAX_FILE) {
            throw unreadable("want at most " + MAX_FILE + " bytes, have " + size, null);
        }
        String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        List<JournalRecord> read = new ArrayList<>();
        int number = 0;
        int from = 0;
        for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
            String body = checked(text.substring(from, end));
            number++;
            if (body == null) {
                if (end < text.length() - 1) {
                    throw unreadable("line " + number + ": checksum does not match", null);
                }
                break;
            }
            parseLine(number, body, read);
            from = end + 1;
        }
        whole = from;
        if (from < text.length()) {
            LOG.warn("dropping the ledger's last line, which is incomplete bytes={}", text.length() - from);
        }
        return read;
    }

    private void parseLine(int number, String body, List<JournalRecord> read) throws IOException {
        if (number == 1) {
            if (!body.equals(HEADER)) {
                throw unreadable("line 1: want \"" + HEADER + "\", have another format or version", null);
            }
            return;
        }
        try {
            read.add(JournalRecord.parse(body));
        } catch (MalformedException e) {
            throw unreadable("line " + number + ": " + e.getMessage(), e);
        }
    }

    private IOException unreadable(String why, @Nullable Exception cause) {
        return new IOException(
                "ledger " + file + ": " + why
                        + "; move the file away: agent-host then finds running VMs by their marks",
                cause);
    }

    static String line(String body) {
        return sum(body) + " " + body + "\n";
    }

    private static String sum(String body) {
        CRC32C sum = new CRC32C();
        sum.update(body.getBytes(StandardCharsets.ISO_8859_1));
        return String.format("%08x", sum.getValue());
    }

    private static @Nullable String checked(String line) {
        if (line.length() <= SUM_LETTERS || line.charAt(SUM_LETTERS) != ' ') {
            return null;
        }
        String body = line.substring(SUM_LETTERS + 1);
        return line.startsWith(sum(body)) ? body : null;
    }

    /** Continues after the lines that were read, if {@link #rewrite} found the disk full. */
    void continueAfterRead() throws IOException {
        if (whole == 0) {
            throw new IOException("ledger " + file + " is new and cannot be written; free space on its file system");
        }
        out.truncate(whole);
        out.position(whole);
        out.force(false);
    }

    /** Returns the number of lines since the last rewrite. */
    int lines() {
        return lines;
    }

    /**
     * Appends a line and flushes it.
     *
     * @throws IOException if the line was not written, such as on a full disk, and was removed again: nothing was
     *     started
     * @throws UncheckedIOException if the content of the disk is unknown; the process then ends
     */
    void append(JournalRecord line) throws IOException {
        if (broken) {
            throw broken(new IOException("an earlier write failed"));
        }
        long before = position();
        try {
            write(out, line(line.text()));
        } catch (IOException e) {
            truncateTo(before);
            throw new IOException(
                    "ledger " + file + " cannot be written: " + e.getMessage() + "; free space on its file system", e);
        }
        try {
            out.force(false);
        } catch (IOException e) {
            throw broken(e);
        }
        lines++;
    }

    /**
     * Returns the position. It fails on a file that was closed, such as by an interrupt; then nothing can be written
     * either.
     */
    private long position() {
        try {
            return out.position();
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private void truncateTo(long length) {
        try {
            out.truncate(length);
        } catch (IOException e) {
            throw broken(e);
        }
    }

    private UncheckedIOException broken(IOException e) {
        broken = true;
        String why = "ledger " + file + ": its content on disk is unknown: "
                + (e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage());
        fatal.abort(why);
        return new UncheckedIOException(why, e);
    }

    private static void write(FileChannel to, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
        while (bytes.hasRemaining()) {
            to.write(bytes);
        }
    }

    /** Replaces the file by one with these records only; if this throws, the old file is unchanged. */
    void rewrite(List<JournalRecord> all) throws IOException {
        StringBuilder text = new StringBuilder(line(HEADER));
        all.forEach(each -> text.append(line(each.text())));
        Path fresh = beside(file, ".new");
        FileChannel next = channel(
                fresh, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
        try {
            write(next, text.toString());
            next.force(true);
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            next.close();
            throw e;
        }
        out.close();
        out = next;
        lines = 0;
        try {
            AtomicFile.syncFolder(file.resolveSibling("."));
        } catch (IOException e) {
            throw broken(e);
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
        lock.close();
    }
}
