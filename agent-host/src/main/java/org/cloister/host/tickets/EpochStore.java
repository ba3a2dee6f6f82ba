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
 * The highest epoch of each project that this host has started a VM for, of its tickets and of its openings, so that a
 * controlling VM that was left behind starts no more and is opened no more; and the newest of the project's papers that it was
 * shown. A ticket that a later controlling VM has taken over counts as that one's. On disk before a call returns. Any thread
 * may call.
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

    /** @throws IOException if it cannot be read, or is not what this program writes */
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
                    throw new IOException(file + ": want a project and what was seen of it in each line, each once,"
                            + " have another one in line " + (projects.size() + 1) + "; restore the file, or take it"
                            + " away if every project's controlling VM was opened since");
                }
            }
        } catch (NoSuchFileException e) {
            // A host's first start.
            return new EpochStore(file, projects);
        }
        return new EpochStore(file, projects);
    }

    /** The highest epoch of the project's requests of its kind; 0 if no VM was started here for one. */
    public long highestEpoch(SignedRequest signed) {
        return signed instanceof SignedOpening ? openingEpoch(signed.project()) : ticketEpoch(signed.project());
    }

    /** Of its tickets. */
    public long ticketEpoch(String project) {
        return marks(project).map(HighWaterMarks::ticketEpoch).orElse(0L);
    }

    /** Of its openings. */
    public long openingEpoch(String project) {
        return marks(project).map(HighWaterMarks::openingEpoch).orElse(0L);
    }

    synchronized Optional<HighWaterMarks> marks(String project) {
        return Optional.ofNullable(projects.get(project));
    }

    /**
     * Papers whose signatures hold.
     *
     * @param lists numbers of the owners' lists that are known now, by their key ids; lower ones than before count for
     *     nothing
     * @throws TicketRefusedException by {@code sequence} if document or approval are older than what was seen, or a
     *     fork of it
     * @throws IOException if it is not on disk; then it may have been written or not
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
                        "two documents of one number were signed: ask the owners which holds");
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

    private static void requireNewest(String subject, String paper, long seen, long have)
            throws TicketRefusedException {
        if (have < seen) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    subject,
                    "the project's " + paper + " " + seen + " or a later one",
                    Long.toString(have),
                    "bring the relay the newest one with agentctl relay deliver");
        }
    }

    /**
     * Before anything is made of its VM.
     *
     * @throws TicketRefusedException if a higher one came meanwhile
     * @throws IllegalStateException if the project's papers were not seen before
     * @throws IOException if it is not on disk; then it may have been written or not
     */
    public synchronized void raise(SignedRequest signed) throws IOException {
        HighWaterMarks seen = marks(signed.project())
                .orElseThrow(() -> new IllegalStateException("epoch of a project of which nothing was seen"));
        long before = highestEpoch(signed);
        if (signed.epoch() < before) {
            throw new TicketRefusedException(
                    TicketClause.SEQUENCE,
                    signed.subject(),
                    "epoch " + before + " or later",
                    Long.toString(signed.epoch()),
                    "a newer life of the controlling VM was opened since; sign anew");
        }
        if (signed.epoch() > before) {
            write(signed instanceof SignedOpening ? seen.withOpened(signed.epoch()) : seen.withEpoch(signed.epoch()));
        }
    }

    private void write(HighWaterMarks standing) throws IOException {
        Map<String, HighWaterMarks> next = new TreeMap<>(projects);
        next.put(standing.project(), standing);
        if (next.size() > MAX_PROJECTS) {
            throw new IOException(file + ": want at most " + MAX_PROJECTS + " projects, have one more");
        }
        StringBuilder text = new StringBuilder();
        next.values().forEach(each -> text.append(each.line()).append('\n'));
        AtomicFile.replace(file, text.toString().getBytes(StandardCharsets.US_ASCII));
        projects.put(standing.project(), standing);
    }
}
