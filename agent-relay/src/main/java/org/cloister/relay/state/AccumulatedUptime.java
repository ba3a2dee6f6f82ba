package org.cloister.relay.state;

import java.util.function.LongSupplier;

/**
 * Seconds that a relay has run on this database: what rest is counted in, so that no jump of the wall clock shortens it.
 * What is not stored before a kill is lost, which lengthens rest.
 */
final class AccumulatedUptime {
    private static final String MARK = "running.seconds";
    private static final long SECOND_NS = 1_000_000_000L;

    private final SqlSession sql;
    private final LongSupplier nanoTime;
    private final long before;
    private final long startNs;

    private AccumulatedUptime(SqlSession sql, LongSupplier nanoTime, long before) {
        this.sql = sql;
        this.nanoTime = nanoTime;
        this.before = before;
        this.startNs = nanoTime.getAsLong();
    }

    static AccumulatedUptime resume(SqlSession sql, PersistentValues marks, LongSupplier nanoTime)
            throws RelayDatabaseException {
        return new AccumulatedUptime(sql, nanoTime, marks.number(MARK));
    }

    long seconds() {
        return before + (nanoTime.getAsLong() - startNs) / SECOND_NS;
    }

    void store() throws RelayDatabaseException {
        new PersistentValues(sql).store(MARK, Long.toString(seconds()));
    }
}
