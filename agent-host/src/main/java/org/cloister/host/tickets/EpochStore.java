package org.cloister.host.tickets;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;

/**
 * Stores the highest epochs of each project's tickets and openings for which this host has started a VM, so that a
 * superseded controlling VM can neither start workers nor be opened; and the newest of the project's documents that the
 * host has seen. A ticket that a later controlling VM has taken over has that VM's epoch. Changes are on disk before a
 * call returns. Any thread may call.
 */
public final class EpochStore {
    private static final int MAX_PROJECTS = 1 << 14;
    private static final int MAX_BYTES = MAX_PROJECTS * HighWaterMarks.MAX_BYTES;

    private final Path file;
    private final Map<String, HighWaterMarks> projects;

    private EpochStore(Path file, Map<String, HighWaterMarks> projects) {
        this.file = file;
        this.projects = projects;
    }

    /**
     * Opens the store.
     *
     * @throws IOException if it cannot be read, or does not have the form that this program writes
     */
    public static EpochStore open(Path file) throws IOException {
        Map<String, HighWaterMarks> projects = new TreeMap<>();
        try {
            long size = Files.size(file);
            if (size > MAX_BYTES) {
                throw new IOException(file + ": want at most " + MAX_BYTES + " bytes, have " + size);
            }
            for (String line : Files.readAllLines(file, StandardCharsets.US_ASCII)) {
                Optional<HighWaterMarks> read = HighWaterMarks.parse(line);
                if (read.isEmpty() || projects.put(read.get().project(), read.get()) != null) {
                    throw new IOException(
                            file + ": line " + (projects.size() + 1) + " is not a project's high-water marks, or"
                                    + " repeats a project; restore the file, or delete it if every project was opened"
                                    + " again since");
                }
            }
        } catch (NoSuchFileException e) {
            // First start of this host.
            return new EpochStore(file, projects);
        }
        return new EpochStore(file, projects);
    }

    /** Returns the highest epoch of the project's requests of the same kind; 0 if this host started no VM for one. */
    public long highestEpoch(SignedRequest signed) {
        return signed instanceof SignedOpening ? openingEpoch(signed.project()) : ticketEpoch(signed.project());
    }

    /** Returns the highest epoch of the project's tickets. */
    public long ticketEpoch(String project) {
        return marks(project).map(HighWaterMarks::ticketEpoch).orElse(0L);
    }

    /** Returns the highest epoch of the project's openings. */
    public long openingEpoch(String project) {
        return marks(project).map(HighWaterMarks::openingEpoch).orElse(0L);
    }

    synchronized Optional<HighWaterMarks> marks(String project) {
        return Optional.ofNullable(projects.get(project));
    }

    /**
     * Records documents whose signatures are verified.
     *
     * @param lists numbers of the owners' revocation lists that are known now, by their key ids; a lower number than
     *     before is ignored
     * @throws TicketRefusedException with {@code sequence} if document or approval are older than those seen, or a fork
     *     of them
     * @throws IOException if it failed; the change may be on disk or not
     */
    synchronized void recordDocuments(
            String subject, ProjectHistory history, ProjectApproval approval, Map<String, BigInteger> lists)
            throws IOException {
        Optional<HighWaterMarks> before = marks(history.id());
        Map<String, BigInteger> highest = new TreeMap<>(lists);
        if (before.isPresent()) {
            HighWaterMarks seen = before.get();
            requireNewest(subject, "document", seen.number(), history.number());
            requireNewest(subject, "approval", seen.approval(), approval.number());
            if (!history.documentId(seen.number()).equals(seen.document())) {
                throw new TicketRefusedException(
                        TicketClause.SEQUENCE,
                        subject,
                        "document " + seen.number() + " as " + seen.document(),
                        history.documentId(seen.number()),
                        "the owners signed two documents with one number; ask them which is valid");
            }
            history.ownerKeys().forEach(key -> highest.merge(key.id(), seen.list(key.id()), BigInteger::max));
            highest.values().removeIf(number -> number.signum() < 0);
        }
        HighWaterMarks now = new HighWaterMarks(
                history.id(),
                before.map(HighWaterMarks::ticketEpoch).orElse(0L),
                before.map(HighWaterMarks::openingEpoch).orElse(0L),
                history.number(),
                history.documentId(history.number()),
                approval.number(),
                highest);
        if (!before.equals(Optional.of(now))) {
            write(now);
        }
    }

    private static void requireNewest(String subject, String kind, long seen, long have) throws TicketRefusedException {
        if (have < seen) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    subject,
                    "the project's " + kind + " " + seen + " or a later one",
                    Long.toString(have),
                    "deliver the newest one to the relay with agentctl relay deliver");
        }
    }

    /**
     * Raises the epoch to the request's; called before anything of its VM is created.
     *
     * @throws TicketRefusedException if a higher one was recorded meanwhile
     * @throws IllegalStateException if no documents of the project were recorded before
     * @throws IOException if it failed; the change may be on disk or not
     */
    public synchronized void raise(SignedRequest signed) throws IOException {
        HighWaterMarks seen = marks(signed.project())
                .orElseThrow(
                        () -> new IllegalStateException("no documents of the project were recorded before its epoch"));
        long before = highestEpoch(signed);
        if (signed.epoch() < before) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    signed.subject(),
                    "epoch " + before + " or later",
                    Long.toString(signed.epoch()),
                    "the project was opened again since; sign a new request");
        }
        if (signed.epoch() > before) {
            write(signed instanceof SignedOpening ? seen.withOpened(signed.epoch()) : seen.withEpoch(signed.epoch()));
        }
    }

    private void write(HighWaterMarks marks) throws IOException {
        Map<String, HighWaterMarks> next = new TreeMap<>(projects);
        next.put(marks.project(), marks);
        if (next.size() > MAX_PROJECTS) {
            throw new IOException(file + ": the limit of " + MAX_PROJECTS + " projects is reached");
        }
        StringBuilder text = new StringBuilder();
        next.values().forEach(each -> text.append(each.line()).append('\n'));
        AtomicFile.replace(file, text.toString().getBytes(StandardCharsets.US_ASCII));
        projects.put(marks.project(), marks);
    }
}
