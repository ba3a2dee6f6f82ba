package org.cloister.relay.tickets;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the bytes of audit records that each project has caused since midnight UTC. New work is charged when it is
 * accepted, with all records that it can cause until its end, so that ends are never refused. It has no clock: time is
 * an argument. Runs on the records thread, except for {@link #exhausted}.
 */
final class AuditBudget {
    /**
     * Bytes of a ticket's own records, each in a group of its own with a head: accepted, queued, running, withdrawn,
     * ended.
     */
    static final long TICKET = 8 * 1024;
    /** Bytes of a slot's records: assigned, and claimed and reported with a head each. */
    static final long SLOT = 4 * 1024;
    /** Bytes of one record and a head. */
    static final long TAKE_OVER = 2 * 1024;

    private static final int SMALLEST = 1;

    private final long perDay;
    /** Bytes used by projects for which something was accepted today; only projects that the site approves. */
    private final Map<String, Long> used = new HashMap<>();

    private long day = Long.MIN_VALUE;
    private volatile int exhausted;

    AuditBudget(long perDay) {
        this.perDay = perDay;
    }

    /** Returns the bytes that tickets or openings can cause until their end. */
    static long cost(long tickets, long nodes) {
        return tickets * TICKET + nodes * SLOT;
    }

    long perDay() {
        return perDay;
    }

    long used(String project, Instant now) {
        startDay(now);
        return used.getOrDefault(project, 0L);
    }

    /** Returns whether new work of that cost fits into the project's budget of the day. */
    boolean hasForWork(String project, long bytes, Instant now) {
        return used(project, now) + bytes <= perDay;
    }

    /**
     * Returns whether a take-over of open work fits into the budget of the day plus a quarter; new work never gets that
     * quarter.
     */
    boolean hasForTakeOver(String project, Instant now) {
        return used(project, now) + TAKE_OVER <= perDay + perDay / 4;
    }

    void charge(String project, long bytes, Instant now) {
        startDay(now);
        used.merge(project, bytes, Long::sum);
    }

    /** Updates {@link #exhausted}; must be called periodically. */
    void updateExhausted(Instant now) {
        startDay(now);
        long smallest = cost(1, SMALLEST);
        exhausted = (int)
                used.values().stream().filter(each -> each + smallest > perDay).count();
    }

    /** Returns the number of projects whose new work was refused at the last {@link #updateExhausted}. Thread-safe. */
    int exhausted() {
        return exhausted;
    }

    /** Returns the last midnight UTC before a time. */
    static Instant midnight(Instant now) {
        return Instant.EPOCH.plus(Duration.ofDays(dayOf(now)));
    }

    private void startDay(Instant now) {
        long today = dayOf(now);
        if (today != day) {
            day = today;
            used.clear();
        }
    }

    private static long dayOf(Instant now) {
        return Math.floorDiv(now.getEpochSecond(), Duration.ofDays(1).toSeconds());
    }
}
