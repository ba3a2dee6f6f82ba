package org.cloister.relay.state;

import java.util.function.LongSupplier;

/**
 * Limits of the audit log's size.
 *
 * @param projectBytes limit for one project on one day
 * @param reserveBytes free bytes of the file system that are kept for the ends of accepted tickets, for revocations and
 *     for the relay's database: with less, the relay accepts nothing new
 * @param freeBytes returns the free bytes of the file system
 */
public record AuditSpace(long projectBytes, long reserveBytes, LongSupplier freeBytes) {
    /** Enough for more than 21,000 tickets of one node: ten minutes each, with 150 at a time, day and night. */
    public static final long PROJECT_BYTES = 256L << 20;
    /** Enough for the ends of 10,000 tickets of one node, in the log and in the database. */
    public static final long RESERVE_BYTES = 128L << 20;

    /** Returns the limits that every relay uses; no site has needed others. */
    public static AuditSpace of(LongSupplier freeBytes) {
        return new AuditSpace(PROJECT_BYTES, RESERVE_BYTES, freeBytes);
    }

    /** Returns whether more space is free than is reserved for ends. */
    public boolean isAmple() {
        return freeBytes.getAsLong() > reserveBytes;
    }
}
