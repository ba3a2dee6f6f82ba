package org.cloister.relay.tickets;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Bytes of the audit log that each project has caused since midnight UTC. New work is charged when it is taken, with all that
 * it can cause until its end, so that ends are never refused. No clock: time is an argument. On the records' thread, but for
 * {@link #exhausted}.
 */
final class AuditBudget {
    /** A ticket's own records, each in a group of its own with a head: accepted, queued, running, withdrawn, ended. */
    static final long TICKET = 8 * 1024;
    /** A slot's: given, and claimed and reported with a head each. */
    static final long SLOT = 4 * 1024;
    /** One record and a head. */
    static final long TAKE_OVER = 2 * 1024;

    private static final int SMALLEST = 1;

    private final long perDay;
    /** Of projects that had something taken today: those that the site approves. */
    private final Map<String, Long> used = new HashMap<>();

    private long day = Long.MIN_VALUE;
    private volatile int exhausted;

    AuditBudget(long perDay) {
        this.perDay = perDay;
    }

    /** Of a ticket or an opening, until its end. */
    static long cost(long tickets, long nodes) {
        return tickets * TICKET + nodes * SLOT;
    }

    long perDay() {
        return perDay;
    }

    long used(String project, Instant now) {
        begin(now);
        return used.getOrDefault(project, 0L);
    }

    /** Whether new work of that cost fits in the project's day. */
    boolean hasForWork(String project, long bytes, Instant now) {
        return used(project, now) + bytes <= perDay;
    }

    /** The same for a take-over of what goes on: a quarter more, which new work never has. */
    boolean hasForTakeOver(String project, Instant now) {
        return used(project, now) + TAKE_OVER <= perDay + perDay / 4;
    }

    void charge(String project, long bytes, Instant now) {
        begin(now);
        used.merge(project, bytes, Long::sum);
    }

    /** To be called now and then, for {@link #exhausted}. */
    void count(Instant now) {
        begin(now);
        long least = cost(1, SMALLEST);
        exhausted = (int)
                used.values().stream().filter(each -> each + least > perDay).count();
    }

    /** Projects whose new work was refused at the last {@link #count}. From any thread. */
    int exhausted() {
        return exhausted;
    }

    /** Midnight UTC before this. */
    static Instant midnight(Instant now) {
        return Instant.EPOCH.plus(Duration.ofDays(dayOf(now)));
    }

    private void begin(Instant now) {
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
