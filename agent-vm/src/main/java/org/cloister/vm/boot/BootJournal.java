package org.cloister.vm.boot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateRole;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Journal, on tmpfs, of the steps that were started in this boot; each line is written before its step is done. The
 * first line records the request to the host that made this process' keys the only ones of the VM's life; each later
 * line records one step. An agent that finds the file has other keys than the process that wrote it. Thread-safe.
 */
public final class BootJournal {
    private static final Logger LOG = LoggerFactory.getLogger(BootJournal.class);
    private static final String ASKED = "asked ";
    private static final long MAX_BYTES = 4096;

    private final Path file;
    private final List<String> lines;
    private final boolean unreadable;

    private BootJournal(Path file, List<String> lines, boolean unreadable) {
        this.file = file;
        this.lines = new ArrayList<>(lines);
        this.unreadable = unreadable;
    }

    /**
     * Opens the journal. A file that cannot be read counts as a record of any step.
     *
     * @param folder on tmpfs
     */
    public static BootJournal open(Path folder) {
        Path file = folder.resolve("begun");
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            return new BootJournal(file, List.of(), false);
        }
        try {
            if (Files.size(file) <= MAX_BYTES) {
                List<String> lines = Files.readAllLines(file, StandardCharsets.US_ASCII);
                return new BootJournal(file, lines, lines.isEmpty());
            }
            LOG.error("{}: want at most {} bytes, have {}", file, MAX_BYTES, Files.size(file));
        } catch (IOException e) {
            LOG.error("{}: cannot be read: {}", file, e.toString());
        }
        return new BootJournal(file, List.of(), true);
    }

    /** Returns whether a host was asked to sign evidence for keys. */
    public synchronized boolean hasRequestedEvidence() {
        return unreadable || !lines.isEmpty();
    }

    /** Returns whether evidence may have been requested for a VM of this role. */
    public synchronized boolean mayHaveRequestedEvidenceAs(CertificateRole role) {
        return hasRequestedEvidence()
                && lines.stream().noneMatch(line -> line.startsWith(ASKED) && !line.equals(ASKED + role));
    }

    /** Returns whether the journal's content is unknown, so that every step may have been started. */
    public boolean isUnreadable() {
        return unreadable;
    }

    /**
     * Returns the names of the recorded steps, each once, in their order; an agent of another release may have had
     * other steps.
     */
    public synchronized List<String> steps() {
        return lines.stream()
                .filter(line -> !line.startsWith(ASKED))
                .map(line -> line.split(" ", 2)[0])
                .distinct()
                .toList();
    }

    /** Returns the note that was recorded with a step. */
    public synchronized Optional<String> stepNote(String step) {
        return lines.stream()
                .filter(line -> line.startsWith(step + " "))
                .map(line -> line.substring(step.length() + 1))
                .filter(note -> !note.isEmpty())
                .findFirst();
    }

    /**
     * Records the request for evidence; called before the host receives it.
     *
     * @param role of this VM
     */
    public synchronized void recordEvidenceRequest(CertificateRole role) throws IOException {
        if (lines.isEmpty()) {
            append(ASKED + role);
        }
    }

    /**
     * Records that a step is about to be done.
     *
     * @param note what undoing the step needs; may be empty
     */
    public synchronized void recordStep(String step, String note) throws IOException {
        append(step + " " + note);
    }

    private void append(String line) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (FileChannel channel = FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.APPEND,
                LinkOption.NOFOLLOW_LINKS)) {
            ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        lines.add(line);
    }
}
