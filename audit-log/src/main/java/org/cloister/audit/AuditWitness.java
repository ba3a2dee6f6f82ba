package org.cloister.audit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.audit.SegmentLineReader;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.audit.WitnessedAuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Witness of one relay's log: stores the newest heads in a file, one per line, countersigned with its own key. It also
 * keeps older heads, fewer the older they are, because a forked log continues with heads that are newer than the last
 * true one.
 */
public final class AuditWitness {
    /** Limit of heads in a file. */
    static final int MAX_HEADS = 64;
    /** Number of newest heads that stay; every second one of the others is deleted when there are too many. */
    private static final int NEWEST = 16;

    private final Path file;
    private final SigningKey witness;
    private List<SignedAuditHead> kept;

    /** Result for an offered head. */
    public sealed interface Outcome permits Stored, Unchanged, Alarm {}

    /** The head is newer than the stored ones, and is on disk. */
    public record Stored(SignedAuditHead head) implements Outcome {}

    /** The head is the newest stored one. */
    public record Unchanged() implements Outcome {}

    /**
     * The relay's log was truncated, forked or replaced, or the head is not the relay's; the head is not stored.
     *
     * @param text both values and the remedy
     */
    public record Alarm(Reason reason, String text) implements Outcome {}

    /** Reason of the alarm, for programs to branch on. */
    public enum Reason {
        /** A stored head has a higher count: the log lost records. */
        OLDER,
        /** A stored head of the same count has another hash: there are two histories. */
        FORKED,
        /** The head is of another log or relay. */
        OTHER_LOG,
        /** The relay did not sign the head, or it is malformed. */
        NOT_SIGNED
    }

    private AuditWitness(Path file, SigningKey witness, List<SignedAuditHead> kept) {
        this.file = file;
        this.witness = witness;
        this.kept = kept;
    }

    /**
     * Opens a witness's file of heads.
     *
     * @param file may be missing
     * @param witness the witness's own key
     * @throws IOException if the file cannot be read, or was not signed with this key
     */
    public static AuditWitness open(Path file, SigningKey witness) throws IOException {
        List<SignedAuditHead> kept = new ArrayList<>();
        for (byte[] line : lines(file)) {
            try {
                // The relay's signature was verified before the countersignature was made.
                kept.add(AuditHead.verify(
                        DsseEnvelope.parse(line, AuditHead.MAX_BYTES), Set.of(witness.verificationKey())));
            } catch (IOException e) {
                throw new IOException(
                        "kept heads " + file + ": line " + (kept.size() + 1) + ": " + e.getMessage()
                                + "; keep the file as evidence, and start a new one",
                        e);
            }
        }
        return new AuditWitness(file, witness, kept);
    }

    /** Reads stored heads for a verifier, which verifies them. */
    public static List<WitnessedAuditHead> read(Path file) throws IOException {
        List<WitnessedAuditHead> heads = new ArrayList<>();
        for (byte[] line : lines(file)) {
            heads.add(new WitnessedAuditHead(file.toString(), line));
        }
        return heads;
    }

    private static List<byte[]> lines(Path file) throws IOException {
        List<byte[]> lines = new ArrayList<>();
        if (Files.notExists(file)) {
            return lines;
        }
        try (InputStream in = Files.newInputStream(file);
                SegmentLineReader reader = new SegmentLineReader(in)) {
            for (var line = reader.next(); line.isPresent(); line = reader.next()) {
                boolean tooLong = line.get().bytes().length >= AuditRecord.MAX_LINE;
                if (tooLong || lines.size() == MAX_HEADS) {
                    throw new MalformedException("kept heads " + file + ": want at most " + MAX_HEADS
                            + " lines of a head each, have more, or a longer line " + (lines.size() + 1));
                }
                lines.add(line.get().bytes());
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        return lines;
    }

    /** Returns the newest stored head. */
    public synchronized Optional<SignedAuditHead> newest() {
        return kept.isEmpty() ? Optional.empty() : Optional.of(kept.get(kept.size() - 1));
    }

    /**
     * Stores a head if its log continues from the stored heads.
     *
     * @param envelope as the relay sent it
     * @param relay the relay's keys
     * @throws IOException if it cannot be written; the stored heads remain
     */
    public synchronized Outcome offer(byte[] envelope, Collection<VerificationKey> relay) throws IOException {
        SignedAuditHead offered;
        try {
            offered = AuditHead.verify(DsseEnvelope.parse(envelope, AuditHead.MAX_BYTES), relay);
        } catch (IOException e) {
            return new Alarm(Reason.NOT_SIGNED, "audit head: " + e.getMessage() + "; ask the site what runs there");
        }
        Optional<SignedAuditHead> before = newest();
        if (before.isPresent()) {
            AuditHead want = before.get().head();
            Optional<Alarm> alarm = alarm(want, offered.head());
            if (alarm.isPresent()) {
                return alarm.get();
            }
            if (offered.head().count() == want.count()) {
                return new Unchanged();
            }
        }
        keep(offered);
        return new Stored(offered);
    }

    /** Compares a head with an earlier one; empty if its log continues from there or is unchanged. */
    public static Optional<Alarm> alarm(AuditHead want, AuditHead have) {
        if (!want.log().equals(have.log()) || !want.relay().equals(have.relay())) {
            return Optional.of(alarm(Reason.OTHER_LOG, want, have));
        }
        if (have.count() < want.count()) {
            return Optional.of(alarm(Reason.OLDER, want, have));
        }
        return have.count() == want.count() && !have.hash().equals(want.hash())
                ? Optional.of(alarm(Reason.FORKED, want, have))
                : Optional.empty();
    }

    private static Alarm alarm(Reason reason, AuditHead want, AuditHead have) {
        return new Alarm(
                reason,
                "audit head of " + have.relay() + ": want one after record " + want.count() + " of log " + want.log()
                        + " with hash " + want.hash() + ", have record " + have.count() + " of log " + have.log()
                        + " with hash " + have.hash()
                        + "; ask the site for its audit log, and verify it with the kept heads");
    }

    private void keep(SignedAuditHead head) throws IOException {
        List<SignedAuditHead> next = new ArrayList<>(kept);
        try {
            next.add(new SignedAuditHead(head.head(), head.envelope().countersign(witness)));
        } catch (GeneralSecurityException e) {
            throw new IOException("audit head " + head.head().count() + ": cannot countersign: " + e.getMessage(), e);
        }
        if (next.size() > MAX_HEADS) {
            next = thinned(next);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (SignedAuditHead each : next) {
            bytes.writeBytes(each.envelope().bytes());
            bytes.write('\n');
        }
        AtomicFile.replace(file, bytes.toByteArray());
        kept = next;
    }

    private static List<SignedAuditHead> thinned(List<SignedAuditHead> heads) {
        List<SignedAuditHead> fewer = new ArrayList<>();
        int old = heads.size() - NEWEST;
        for (int i = 0; i < heads.size(); i++) {
            if (i >= old || i % 2 == 0) {
                fewer.add(heads.get(i));
            }
        }
        return fewer;
    }
}
