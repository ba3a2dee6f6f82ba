package org.cloister.protocol.audit;

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
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.WholeFile;

/**
 * A witness of one relay's log: keeps the newest heads in a file, a line each, countersigned by its own key. Older ones are
 * kept too, fewer the further back, for a log that was forked goes on with heads that are newer than the last true one.
 */
public final class HeadKeeper {
    /** Heads that a file has at most. */
    static final int MAX_HEADS = 64;
    /** Of these the newest stay; of the others every second goes when there are too many. */
    private static final int NEWEST = 16;

    private final Path file;
    private final SigningKey witness;
    private List<SignedHead> kept;

    /** What became of a head. */
    public sealed interface Outcome permits Kept, Known, Alarm {}

    /** It is newer, and on disk. */
    public record Kept(SignedHead head) implements Outcome {}

    /** It is the newest that is kept. */
    public record Known() implements Outcome {}

    /**
     * The relay's log is not what it was; the head is not kept.
     *
     * @param text both values and what to do
     */
    public record Alarm(Reason reason, String text) implements Outcome {}

    /** What to branch on. */
    public enum Reason {
        /** Of a count that a kept one goes beyond: the log lost records. */
        OLDER,
        /** Of the count of a kept one with another hash: there are two histories. */
        FORKED,
        /** Of another log or relay. */
        OTHER_LOG,
        /** Not signed by the relay, or no head at all. */
        NOT_SIGNED
    }

    private HeadKeeper(Path file, SigningKey witness, List<SignedHead> kept) {
        this.file = file;
        this.witness = witness;
        this.kept = kept;
    }

    /**
     * @param file need not be there
     * @param witness the keeper's own key
     * @throws IOException if what is there cannot be read, or was not kept under this key
     */
    public static HeadKeeper open(Path file, SigningKey witness) throws IOException {
        List<SignedHead> kept = new ArrayList<>();
        for (byte[] line : lines(file)) {
            try {
                // That the relay signed it was looked at before it was countersigned.
                kept.add(
                        AuditHead.verify(Envelope.parse(line, AuditHead.MAX_BYTES), Set.of(witness.verificationKey())));
            } catch (IOException e) {
                throw new IOException(
                        "kept heads " + file + ": line " + (kept.size() + 1) + ": " + e.getMessage()
                                + "; keep the file for whoever looks into it, and begin a new one",
                        e);
            }
        }
        return new HeadKeeper(file, witness, kept);
    }

    /** Reads kept heads for a verifier, which checks them. */
    public static List<WitnessedHead> read(Path file) throws IOException {
        List<WitnessedHead> heads = new ArrayList<>();
        for (byte[] line : lines(file)) {
            heads.add(new WitnessedHead(file.toString(), line));
        }
        return heads;
    }

    private static List<byte[]> lines(Path file) throws IOException {
        List<byte[]> lines = new ArrayList<>();
        if (Files.notExists(file)) {
            return lines;
        }
        try (InputStream in = Files.newInputStream(file);
                LineReader reader = new LineReader(in)) {
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

    /** The newest that is kept. */
    public synchronized Optional<SignedHead> newest() {
        return kept.isEmpty() ? Optional.empty() : Optional.of(kept.get(kept.size() - 1));
    }

    /**
     * Keeps a head if it goes on from those that are kept.
     *
     * @param envelope as the relay sent it
     * @param relay the relay's keys
     * @throws IOException if it cannot be written; what was kept stays
     */
    public synchronized Outcome offer(byte[] envelope, Collection<VerificationKey> relay) throws IOException {
        SignedHead offered;
        try {
            offered = AuditHead.verify(Envelope.parse(envelope, AuditHead.MAX_BYTES), relay);
        } catch (IOException e) {
            return new Alarm(Reason.NOT_SIGNED, "audit head: " + e.getMessage() + "; ask the site what runs there");
        }
        Optional<SignedHead> before = newest();
        if (before.isPresent()) {
            AuditHead want = before.get().head();
            Optional<Alarm> alarm = alarm(want, offered.head());
            if (alarm.isPresent()) {
                return alarm.get();
            }
            if (offered.head().count() == want.count()) {
                return new Known();
            }
        }
        keep(offered);
        return new Kept(offered);
    }

    /** What is wrong with a head that comes after another; nothing if its log goes on from there, or is where it was. */
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

    private void keep(SignedHead head) throws IOException {
        List<SignedHead> next = new ArrayList<>(kept);
        try {
            next.add(new SignedHead(head.head(), head.envelope().countersign(witness)));
        } catch (GeneralSecurityException e) {
            throw new IOException("audit head " + head.head().count() + ": cannot countersign: " + e.getMessage(), e);
        }
        if (next.size() > MAX_HEADS) {
            next = thinned(next);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (SignedHead each : next) {
            bytes.writeBytes(each.envelope().bytes());
            bytes.write('\n');
        }
        WholeFile.replace(file, bytes.toByteArray());
        kept = next;
    }

    private static List<SignedHead> thinned(List<SignedHead> heads) {
        List<SignedHead> fewer = new ArrayList<>();
        int old = heads.size() - NEWEST;
        for (int i = 0; i < heads.size(); i++) {
            if (i >= old || i % 2 == 0) {
                fewer.add(heads.get(i));
            }
        }
        return fewer;
    }
}
