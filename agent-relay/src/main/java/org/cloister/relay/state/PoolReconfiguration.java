package org.cloister.relay.state;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.cloister.relay.state.RelayDatabaseException.Kind;

/** Adapts the numbers in a database to the configured pool, or fails if a number that is held would not fit. */
final class PoolReconfiguration {
    private static final String NETWORK = "pool.network";

    private final SqlSession sql;
    private final NetworkPool pool;

    PoolReconfiguration(SqlSession sql, NetworkPool pool) {
        this.sql = sql;
        this.pool = pool;
    }

    void fit(AccumulatedUptime time) throws RelayDatabaseException {
        fitNetwork(time);
        fitVlans();
    }

    private void fitNetwork(AccumulatedUptime time) throws RelayDatabaseException {
        PersistentValues marks = new PersistentValues(sql);
        String configured = pool.network() + " in /" + pool.prefix();
        String former = marks.value(NETWORK).orElse(configured);
        if (!former.equals(configured)) {
            long used = sql.number(
                    "SELECT COUNT(*) FROM address WHERE ticket IS NOT NULL OR rests_until > ?", time.seconds());
            if (used > 0) {
                throw sql.failure(
                        Kind.POOL,
                        used + " addresses of " + former + " are allocated or wait for reuse, and " + configured
                                + " is configured");
            }
            sql.update("DELETE FROM address");
        }
        marks.store(NETWORK, configured);
    }

    private void fitVlans() throws RelayDatabaseException {
        Set<Integer> usable =
                new HashSet<>(sql.list(columns -> columns.getInt(1), "SELECT number FROM vlan WHERE usable = 1"));
        for (int number : usable) {
            if (!pool.has(number)) {
                sql.update("UPDATE vlan SET usable = 0 WHERE number = ?", number);
            }
        }
        List<String> outside = sql.list(
                columns -> columns.getInt(1) + " of project " + columns.getString(2),
                "SELECT number, project FROM vlan WHERE usable = 0 AND project IS NOT NULL ORDER BY number LIMIT 1");
        if (!outside.isEmpty()) {
            throw sql.failure(
                    Kind.POOL,
                    "VLAN " + outside.get(0) + " is allocated, and " + pool.firstVlan() + " to " + pool.lastVlan()
                            + " without " + pool.reserved() + " is configured");
        }
        for (int number = pool.firstVlan(); number <= pool.lastVlan(); number++) {
            if (pool.has(number)) {
                sql.update("""
                        INSERT INTO vlan (number, usable, rests_until) VALUES (?, 1, 0)
                        ON CONFLICT (number) DO UPDATE SET usable = 1""", number);
            }
        }
    }
}
