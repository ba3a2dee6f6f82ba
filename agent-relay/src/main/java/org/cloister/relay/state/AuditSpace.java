package org.cloister.relay.state;

import java.util.function.LongSupplier;

/**
 * How much the audit log may take.
 *
 * @param projectBytes of one project on one day
 * @param reserveBytes of the file system, kept for the ends of what was taken, for revocations and the relay's database: with
 *     less, nothing new is taken
 * @param freeBytes of the file system, now
 */
public record AuditSpace(long projectBytes, long reserveBytes, LongSupplier freeBytes) {
    /** Of more than 21,000 tickets of one node: ten minutes each, with 150 at a time, day and night. */
    public static final long PROJECT_BYTES = 256L << 20;
    /** The ends of 10,000 tickets of one node, in the log and in the database. */
    public static final long RESERVE_BYTES = 128L << 20;

    /** What every relay has; no site was seen that wants another. */
    public static AuditSpace of(LongSupplier freeBytes) {
        return new AuditSpace(PROJECT_BYTES, RESERVE_BYTES, freeBytes);
    }

    /** Whether there is more than what is kept for ends. */
    public boolean isAmple() {
        return freeBytes.getAsLong() > reserveBytes;
    }
}
