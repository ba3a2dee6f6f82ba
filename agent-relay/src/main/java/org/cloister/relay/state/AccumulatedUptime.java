package org.cloister.relay.state;

import java.util.function.LongSupplier;

/**
 * Counts the seconds for which a relay has run on this database. Reuse delays are measured in it, so that no jump of
 * the wall clock shortens them. Time that is not stored before a kill is lost, which lengthens a delay.
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
