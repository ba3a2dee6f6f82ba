package org.cloister.protocol.audit;

/**
 * A place where a log is not what was signed.
 *
 * @param segment the file's name, or that of the witness
 * @param record number of the record at or after which it was found
 * @param text what is there and what was wanted
 */
public record AuditFinding(Kind kind, String segment, long record, String text) {
    /** What to branch on. */
    public enum Kind {
        /** A line that no version of the format has. */
        MALFORMED,
        /** A record's number or event is not the next one: dropped, swapped, inserted or doubled. */
        ORDER,
        /** The lines before a head are not those that were signed. */
        CHANGED,
        /** A head that the segment's key did not sign, or that speaks of another log. */
        HEAD,
        /** Lines at a segment's end that no head covers. */
        UNSIGNED_END,
        /** A segment is not there, or is of another log. */
        SEGMENT,
        /** Heads are signed by a key that is not the relay's. */
        KEY,
        /** A witness saw more records than there are: cut off at the end, or an earlier state brought back. */
        ROLLED_BACK,
        /** A witness saw another history up to the same record. */
        FORKED,
        /** A witness's head that is none, or not of this log. */
        WITNESS
    }

    @Override
    public String toString() {
        return segment + ": record " + record + ": " + text;
    }
}
