package org.cloister.protocol.audit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.jspecify.annotations.Nullable;

/**
 * Reads a log's lines once, in their order, and collects findings. After each finding it continues from the state that
 * was signed.
 */
final class AuditLogWalk {
    private final Collection<VerificationKey> trusted;
    private final List<AuditFinding> findings = new ArrayList<>();
    /** Hash before the head of each watched count, for comparison with a witness's head. */
    private final Map<Long, Optional<Digest>> watched = new HashMap<>();

    private AuditHashChain chain = new AuditHashChain(AuditHashChain.EMPTY);
    private String segment = "log";
    private @Nullable AuditSegmentHeader start;
    private @Nullable SignedAuditHead newest;
    private long first;
    private long expected;
    private long covered;
    private long event;
    private long records;
    private boolean bare = true;

    /** @param from number of the first record */
    AuditLogWalk(Set<VerificationKey> trusted, long from) {
        this.trusted = trusted;
        this.expected = from;
        this.covered = from - 1;
        this.first = from;
    }

    /** Marks a count: the pass records the hash before the head of that many records. */
    void watch(long count) {
        watched.put(count, Optional.empty());
    }

    void segment(AuditSegment next) throws IOException {
        finish();
        segment = next.name();
        try (SegmentLineReader lines = new SegmentLineReader(next.source().open())) {
            Optional<SegmentLineReader.Line> line = lines.next();
            if (line.isEmpty()) {
                find(AuditFinding.Kind.MALFORMED, "want a segment's start, have an empty file");
                return;
            }
            boolean begins = true;
            for (; line.isPresent(); line = lines.next()) {
                line(line.get(), begins);
                begins = false;
            }
        }
    }

    private void line(SegmentLineReader.Line line, boolean begins) {
        if (!line.whole()) {
            find(
                    AuditFinding.Kind.MALFORMED,
                    "want a line of at most " + AuditRecord.MAX_LINE + " bytes and its end, have " + line.bytes().length
                            + " bytes without one");
            bare = false;
            return;
        }
        try {
            AuditLine parsed = AuditLine.parse(line.bytes());
            if (begins != parsed instanceof AuditSegmentHeader) {
                find(
                        AuditFinding.Kind.MALFORMED,
                        begins ? "want a segment's start as first line, have another" : "have a second start");
            } else if (parsed instanceof AuditSegmentHeader have) {
                startSegment(have);
            }
            if (parsed instanceof AuditHeadLine head) {
                head(head);
                chain.add(line.bytes());
                bare = true;
                return;
            }
            if (parsed instanceof AuditRecord have) {
                record(have);
            }
        } catch (MalformedException e) {
            find(AuditFinding.Kind.MALFORMED, String.valueOf(e.getMessage()));
        }
        chain.add(line.bytes());
        bare = false;
    }

    private void startSegment(AuditSegmentHeader have) {
        AuditSegmentHeader before = start;
        start = have;
        if (!trusted.isEmpty() && !trusted.contains(have.key())) {
            find(
                    AuditFinding.Kind.KEY,
                    "heads are signed by key " + have.key()
                            + ", which was not given as the relay's; give it if it was");
        }
        if (have.first() != expected) {
            find(
                    AuditFinding.Kind.SEGMENT,
                    "want the segment that begins with record " + expected + ", have one that begins with "
                            + have.first());
            expected = have.first();
        }
        if (before == null) {
            first = have.first();
            event = have.event();
            if (first == 1 && event != 0) {
                find(AuditFinding.Kind.SEGMENT, "want event 0 before the first record, have " + event);
            }
        } else if (!have.log().equals(before.log()) || !have.relay().equals(before.relay())) {
            find(
                    AuditFinding.Kind.SEGMENT,
                    "want a segment of log " + before.log() + " of " + before.relay() + ", have one of " + have.log()
                            + " of " + have.relay());
        }
        boolean isHashKnown = before != null || have.first() == 1;
        if (isHashKnown && !have.after().equals(chain.value())) {
            find(
                    AuditFinding.Kind.SEGMENT,
                    "want a segment that follows hash " + chain.value() + ", have one that follows " + have.after());
        }
        chain = new AuditHashChain(have.after());
        if (have.event() != event) {
            find(AuditFinding.Kind.ORDER, "want a segment that follows event " + event + ", have " + have.event());
            event = have.event();
        }
    }

    private void record(AuditRecord have) {
        if (have.number() != expected) {
            find(AuditFinding.Kind.ORDER, "want record " + expected + ", have " + have.number());
        }
        if (have.event() != 0 && have.event() <= event) {
            find(AuditFinding.Kind.ORDER, "want an event after " + event + ", have " + have.event());
        }
        event = Math.max(event, have.event());
        expected = have.number() + 1;
        records++;
    }

    private void head(AuditHeadLine line) {
        AuditSegmentHeader of = start;
        if (of == null) {
            find(AuditFinding.Kind.HEAD, "head: no segment's start says whose it is");
            return;
        }
        SignedAuditHead signed;
        try {
            signed = AuditHead.verify(line.envelope(), List.of(of.key()));
        } catch (EnvelopeRefusedException | MalformedException e) {
            find(AuditFinding.Kind.HEAD, "head: " + e.getMessage());
            return;
        } catch (IOException e) {
            throw new IllegalStateException("a verification reads nothing", e);
        }
        AuditHead head = signed.head();
        if (!head.log().equals(of.log()) || !head.relay().equals(of.relay())) {
            find(AuditFinding.Kind.HEAD, "head: is of log " + head.log() + " of " + head.relay());
            return;
        }
        if (watched.containsKey(head.count())) {
            watched.put(head.count(), Optional.of(head.hash()));
        }
        if (head.count() != expected - 1 || !head.hash().equals(chain.value())) {
            find(
                    AuditFinding.Kind.CHANGED,
                    "records " + (covered + 1) + " to " + head.count() + ", or a line among them, are not those that"
                            + " were signed: want " + head.count() + " with hash " + head.hash() + ", have "
                            + (expected - 1) + " with " + chain.value());
            chain = new AuditHashChain(head.hash());
            expected = head.count() + 1;
        }
        if (trusted.isEmpty() || trusted.contains(of.key())) {
            newest = signed;
        }
        covered = head.count();
    }

    /** Checks that the current segment ends with a head. */
    void finish() {
        if (!bare) {
            find(
                    AuditFinding.Kind.UNSIGNED_END,
                    "lines after record " + covered
                            + " have no head; the relay was stopped while it wrote them, and cuts"
                            + " them off when it starts, or the head was cut off");
            bare = true;
        }
    }

    private void find(AuditFinding.Kind kind, String text) {
        find(kind, segment, expected, text);
    }

    void find(AuditFinding.Kind kind, String where, long record, String text) {
        if (findings.size() < AuditLogVerifier.MAX_FINDINGS) {
            findings.add(new AuditFinding(kind, where, record, text));
        }
    }

    /**
     * Returns whether the log has the witness's hash at its count.
     *
     * @param witnessed a head whose count is watched
     */
    boolean agrees(AuditHead witnessed) {
        return Objects.requireNonNull(watched.get(witnessed.count()))
                .filter(witnessed.hash()::equals)
                .isPresent();
    }

    List<AuditFinding> findings() {
        return findings;
    }

    long records() {
        return records;
    }

    /** Returns the number of the first record that was given. */
    long first() {
        return first;
    }

    Optional<SignedAuditHead> newest() {
        return Optional.ofNullable(newest);
    }
}
