package org.cloister.protocol.audit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;

/** Verifies that a log is what its relay signed and what its witnesses saw. It has no clock and makes no requests. */
public final class AuditLogVerifier {
    /** Limit of findings; more of them add no information. */
    public static final int MAX_FINDINGS = 100;

    private final Set<VerificationKey> relay;
    private final long from;

    /**
     * Creates a verifier for one relay's log.
     *
     * @param relay every key that the relay ever had; if empty, the keys that the log names are trusted
     * @param from number of the first record that must exist; 1, unless older segments are stored elsewhere
     */
    public AuditLogVerifier(Collection<VerificationKey> relay, long from) {
        this.relay = new LinkedHashSet<>(relay);
        this.from = from;
    }

    private record Placed(AuditSegment segment, Optional<AuditSegmentHeader> start) {
        long first() {
            return start.map(AuditSegmentHeader::first).orElse(Long.MAX_VALUE);
        }
    }

    /**
     * Verifies a log and compares it with its witnesses' heads.
     *
     * @param segments in any order
     * @param witnessed envelopes of heads that witnesses stored
     * @throws IOException if a segment cannot be read
     */
    public AuditVerification verify(Collection<AuditSegment> segments, Collection<WitnessedAuditHead> witnessed)
            throws IOException {
        List<Placed> placed = new ArrayList<>();
        Set<VerificationKey> keys = new LinkedHashSet<>(relay);
        for (AuditSegment segment : segments) {
            Optional<AuditSegmentHeader> start = start(segment);
            placed.add(new Placed(segment, start));
            if (relay.isEmpty()) {
                start.ifPresent(have -> keys.add(have.key()));
            }
        }
        placed.sort(Comparator.comparingLong(Placed::first)
                .thenComparing(each -> each.segment().name()));
        AuditLogWalk walk = new AuditLogWalk(relay, from);
        List<WitnessedAuditHead> whole = new ArrayList<>();
        List<SignedAuditHead> seen = new ArrayList<>();
        for (WitnessedAuditHead each : witnessed) {
            try {
                seen.add(AuditHead.verify(DsseEnvelope.parse(each.envelope(), AuditHead.MAX_BYTES), keys));
                whole.add(each);
            } catch (IOException e) {
                walk.find(AuditFinding.Kind.WITNESS, each.name(), 0, "witnessed head: " + e.getMessage());
            }
        }
        seen.forEach(each -> walk.watch(each.head().count()));
        for (Placed each : placed) {
            walk.segment(each.segment());
        }
        walk.finish();
        for (int i = 0; i < seen.size(); i++) {
            compare(walk, whole.get(i).name(), seen.get(i).head());
        }
        return new AuditVerification(walk.findings(), unseen(walk, seen), walk.records(), walk.newest());
    }

    private static Optional<AuditSegmentHeader> start(AuditSegment segment) throws IOException {
        try (SegmentLineReader lines = new SegmentLineReader(segment.source().open())) {
            Optional<SegmentLineReader.Line> first = lines.next();
            if (first.isPresent()
                    && first.get().whole()
                    && AuditLine.parse(first.get().bytes()) instanceof AuditSegmentHeader start) {
                return Optional.of(start);
            }
        } catch (MalformedException e) {
            return Optional.empty(); // AuditLogWalk reports it, with its place
        }
        return Optional.empty();
    }

    private static void compare(AuditLogWalk walk, String name, AuditHead witnessed) {
        Optional<SignedAuditHead> newest = walk.newest();
        if (newest.isEmpty()) {
            walk.find(
                    AuditFinding.Kind.ROLLED_BACK,
                    name,
                    0,
                    "witnessed head: want " + witnessed.count() + " records, have no head at all");
            return;
        }
        AuditHead have = newest.get().head();
        if (!witnessed.log().equals(have.log()) || !witnessed.relay().equals(have.relay())) {
            walk.find(
                    AuditFinding.Kind.WITNESS,
                    name,
                    witnessed.count(),
                    "witnessed head: is of log " + witnessed.log() + " of " + witnessed.relay() + ", this is log "
                            + have.log() + " of " + have.relay()
                            + "; if the relay began a new log, its old one is gone");
        } else if (witnessed.count() > have.count()) {
            walk.find(
                    AuditFinding.Kind.ROLLED_BACK,
                    name,
                    have.count(),
                    "want at least " + witnessed.count() + " records, as a witness saw at " + witnessed.time()
                            + ", have " + have.count() + ": the end was cut off or an earlier state brought back");
        } else if (witnessed.count() >= walk.first() && !walk.agrees(witnessed)) {
            walk.find(
                    AuditFinding.Kind.FORKED,
                    name,
                    witnessed.count(),
                    "want hash " + witnessed.hash() + " before the head of this record, as a witness saw at "
                            + witnessed.time() + ", have another: the log was written anew");
        }
    }

    private List<String> unseen(AuditLogWalk walk, List<SignedAuditHead> seen) {
        List<String> unseen = new ArrayList<>();
        if (relay.isEmpty()) {
            unseen.add("the relay's certificate or key was not given: a log written anew under another key would not be"
                    + " found");
        }
        if (walk.first() > 1) {
            unseen.add("records before " + walk.first() + " were not given: nothing is said of them");
        }
        Optional<AuditHead> latest = seen.stream()
                .map(SignedAuditHead::head)
                .filter(head -> head.count() >= walk.first())
                .max(Comparator.comparingLong(AuditHead::count));
        if (latest.isEmpty()) {
            unseen.add(
                    "no witness's head was given: records cut off at the end, an earlier state brought back, and a log"
                            + " that the relay's key signed anew would not be found");
        } else {
            unseen.add("the newest head of a witness is that of record "
                    + latest.get().count()
                    + ": what came later may be cut off or signed anew, and would not be found");
        }
        return unseen;
    }
}
