package org.cloister.protocol.audit;

/**
 * Place at which a log differs from the signed one.
 *
 * @param segment name of the segment's file, or of the witness
 * @param record number of the record at or after which the difference was found
 * @param text the found and the expected value
 */
public record AuditFinding(Kind kind, String segment, long record, String text) {
    /** Kind of the finding, for programs to branch on. */
    public enum Kind {
        /** A line matches no version of the format. */
        MALFORMED,
        /** A record's number or event is not the next one: a record was dropped, swapped, inserted or duplicated. */
        ORDER,
        /** The lines before a head are not those that were signed. */
        CHANGED,
        /** A head is not signed by the segment's key, or belongs to another log. */
        HEAD,
        /** Lines at a segment's end are covered by no head. */
        UNSIGNED_END,
        /** A segment is missing, or belongs to another log. */
        SEGMENT,
        /** Heads are signed by a key that is not the relay's. */
        KEY,
        /** A witness saw more records than the log has: it was truncated, or an earlier state was restored. */
        ROLLED_BACK,
        /** A witness saw another history up to the same record. */
        FORKED,
        /** A witness's head is malformed, or is not of this log. */
        WITNESS
    }

    @Override
    public String toString() {
        return segment + ": record " + record + ": " + text;
    }
}
