package org.cloister.relay.state;

import java.util.function.LongSupplier;

/**
 * Seconds that a relay has run on this database: what rest is counted in, so that no jump of the wall clock shortens it.
 * What is not stored before a kill is lost, which lengthens rest.
 */
final class RunningTime {
    private static final String MARK = "running.seconds";
    private static final long SECOND_NS = 1_000_000_000L;

    private final Sql sql;
    private final LongSupplier nanoTime;
    private final long before;
    private final long startNs;

    private RunningTime(Sql sql, LongSupplier nanoTime, long before) {
        this.sql = sql;
        this.nanoTime = nanoTime;
        this.before = before;
        this.startNs = nanoTime.getAsLong();
    }

    static RunningTime resume(Sql sql, Marks marks, LongSupplier nanoTime) throws StateException {
        return new RunningTime(sql, nanoTime, marks.number(MARK));
    }

    long seconds() {
        return before + (nanoTime.getAsLong() - startNs) / SECOND_NS;
    }

    void store() throws StateException {
        new Marks(sql).put(MARK, Long.toString(seconds()));
    }
}
