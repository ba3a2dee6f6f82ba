package org.cloister.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.audit.AuditHashChain;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.audit.AuditHeadLine;
import org.cloister.protocol.audit.AuditLine;
import org.cloister.protocol.audit.AuditRecord;
import org.cloister.protocol.audit.AuditSegmentHeader;
import org.cloister.protocol.audit.SegmentLineReader;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.jspecify.annotations.Nullable;

/**
 * End of a segment's last group. Bytes after it were never acknowledged, since a group is acknowledged when its head is
 * on disk; the last head's signature covers all bytes before it.
 *
 * @param end number of valid bytes
 * @param hash of the chain over them
 * @param event the highest so far
 */
record SegmentTail(AuditSegmentHeader start, long end, Digest hash, long event, SignedAuditHead head) {

    /**
     * Reads a segment to its last group.
     *
     * @return empty if the segment has no group
     * @throws IOException if an acknowledged group is invalid; the text names the record and the remedy
     */
    static Optional<SegmentTail> read(Path file) throws IOException {
        try (SegmentLineReader lines = new SegmentLineReader(Files.newInputStream(file))) {
            Optional<SegmentLineReader.Line> first = lines.next();
            if (first.isEmpty() || !first.get().whole()) {
                return Optional.empty();
            }
            Scan scan = new Scan(file, start(file, first.get().bytes()));
            scan.chain.add(first.get().bytes());
            for (var line = lines.next(); line.isPresent() && line.get().whole(); line = lines.next()) {
                scan.add(line.get());
            }
            return scan.tail();
        }
    }

    private static AuditSegmentHeader start(Path file, byte[] line) throws IOException {
        try {
            if (AuditLine.parse(line) instanceof AuditSegmentHeader start && file.endsWith(start.fileName())) {
                return start;
            }
        } catch (MalformedException e) {
            throw refused(file, 0, "first line: " + e.getMessage(), e);
        }
        throw refused(file, 0, "first line: want the start of the segment of this name, have another", null);
    }

    private static IOException refused(Path file, long record, String what, @Nullable Exception cause) {
        return new IOException(
                "audit log " + file + ": record " + record + ": " + what
                        + "; see agentctl audit verify, and put the file back from a copy, or keep the folder elsewhere"
                        + " and begin a new log in an empty one, which witnesses will report",
                cause);
    }

    private static final class Scan {
        final AuditHashChain chain;
        private final Path file;
        private final AuditSegmentHeader start;
        private long count;
        private long event;
        private @Nullable IOException bad;
        private @Nullable Group last;

        private record Group(DsseEnvelope head, Digest before, Digest after, long count, long event, long end) {}

        Scan(Path file, AuditSegmentHeader start) {
            this.file = file;
            this.start = start;
            this.chain = new AuditHashChain(start.after());
            this.count = start.first() - 1;
            this.event = start.event();
        }

        void add(SegmentLineReader.Line line) throws IOException {
            AuditLine parsed;
            try {
                parsed = AuditLine.parse(line.bytes());
            } catch (MalformedException e) {
                note(e.getMessage(), e);
                return;
            }
            if (parsed instanceof AuditHeadLine head) {
                if (bad != null) {
                    throw bad;
                }
                Digest before = chain.value();
                chain.add(line.bytes());
                last = new Group(head.envelope(), before, chain.value(), count, event, line.nextOffset());
            } else if (parsed instanceof AuditRecord record) {
                if (record.number() != count + 1) {
                    note("want this number, have " + record.number(), null);
                } else if (record.event() != 0 && record.event() <= event) {
                    note("want an event after " + event + ", have " + record.event(), null);
                }
                count++;
                event = Math.max(event, record.event());
                chain.add(line.bytes());
            } else {
                note("want a record or a head, have a segment's start", null);
            }
        }

        /** Records a defect, which only the incomplete rest of the last group may have. */
        private void note(@Nullable String what, @Nullable Exception cause) {
            if (bad == null) {
                bad = refused(file, count + 1, String.valueOf(what), cause);
            }
        }

        Optional<SegmentTail> tail() throws IOException {
            if (last == null) {
                return Optional.empty();
            }
            SignedAuditHead head;
            try {
                head = AuditHead.verify(last.head, List.of(start.key()));
            } catch (EnvelopeRefusedException | MalformedException e) {
                throw refused(file, last.count, "its head: " + e.getMessage(), e);
            }
            AuditHead auditHead = head.head();
            if (!auditHead.relay().equals(start.relay())
                    || !auditHead.log().equals(start.log())
                    || auditHead.count() != last.count
                    || !auditHead.hash().equals(last.before)) {
                throw refused(
                        file,
                        last.count,
                        "its head says " + auditHead.count() + " records with hash " + auditHead.hash()
                                + ", the file has " + last.count + " with " + last.before,
                        null);
            }
            return Optional.of(new SegmentTail(start, last.end, last.after, last.event, head));
        }
    }
}
