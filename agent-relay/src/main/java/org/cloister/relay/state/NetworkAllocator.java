package org.cloister.relay.state;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.base.address.Ipv4Network;
import org.cloister.relay.state.RelayDatabaseException.Kind;

/**
 * VLANs of projects, and addresses of tickets and openings. What is given back rests, in seconds that the relay runs, and what has rested
 * longest goes first.
 */
public final class NetworkAllocator {
    /** VLANs of the pool. */
    public record VlanCounts(int allocated, int resting, int free) {}

    private final SqlSession sql;
    private final NetworkPool pool;
    private final AccumulatedUptime time;

    NetworkAllocator(SqlSession sql, NetworkPool pool, AccumulatedUptime time) {
        this.sql = sql;
        this.pool = pool;
        this.time = time;
    }

    /** Stores how long the relay has run; once a minute is enough, since what is not stored before a kill only lengthens rest. */
    public void tick() throws RelayDatabaseException {
        time.store();
    }

    public OptionalInt vlanOf(String project) throws RelayDatabaseException {
        long number = sql.number("SELECT number FROM vlan WHERE project = ?", project);
        return number == 0 ? OptionalInt.empty() : OptionalInt.of((int) number);
    }

    /** The project's VLAN: the one that it has, or one that is free. It keeps it until {@link #releaseVlan}. */
    public int vlan(String project) throws RelayDatabaseException, PoolExhaustedException {
        OptionalInt held = vlanOf(project);
        if (held.isPresent()) {
            return held.getAsInt();
        }
        int number = (int) sql.number("""
                SELECT number FROM vlan WHERE project IS NULL AND usable = 1 AND rests_until <= ?
                ORDER BY rests_until, number LIMIT 1""", time.seconds());
        if (number == 0) {
            throw new PoolExhaustedException("VLANs", 1, 0, vlans().resting());
        }
        once(sql.update("UPDATE vlan SET project = ? WHERE number = ? AND project IS NULL", project, number));
        return number;
    }

    /** The VLAN begins to rest unless a ticket of the project holds an address in it. */
    public boolean releaseVlan(String project) throws RelayDatabaseException {
        time.store();
        return sql.update("""
                        UPDATE vlan SET project = NULL, rests_until = ? WHERE project = ? AND NOT EXISTS (
                        SELECT 1 FROM address WHERE address.vlan = vlan.number AND address.ticket IS NOT NULL)""", restsUntil(), project) == 1;
    }

    /** Projects that have a VLAN of which their tickets hold no address. */
    public List<String> idleProjects() throws RelayDatabaseException {
        return sql.list(columns -> columns.getString(1), """
                SELECT project FROM vlan WHERE project IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM address WHERE address.vlan = vlan.number AND address.ticket IS NOT NULL)
                ORDER BY number""");
    }

    public VlanCounts vlans() throws RelayDatabaseException {
        return sql.first(
                        columns -> new VlanCounts(columns.getInt(1), columns.getInt(2), columns.getInt(3)),
                        """
                        SELECT COUNT(project), SUM(CASE WHEN project IS NULL AND rests_until > ? THEN 1 ELSE 0 END),
                        SUM(CASE WHEN project IS NULL AND rests_until <= ? THEN 1 ELSE 0 END) FROM vlan
                        WHERE usable = 1""",
                        time.seconds(),
                        time.seconds())
                .orElseThrow();
    }

    /**
     * Gives each slot of a ticket an address in its project's VLAN, which the project gets if it has none.
     *
     * @param ticket recorded before, in this transaction or an earlier one, and holding nothing
     * @throws PoolExhaustedException nothing was given then, but a VLAN that the project did not have may be; use
     *     {@link RelayTransaction#attempt}
     */
    public NetworkLease allocate(String ticket, String project, int slots)
            throws RelayDatabaseException, PoolExhaustedException {
        if (slots > pool.hosts()) {
            throw new PoolExhaustedException("addresses of one VLAN", slots, pool.hosts(), 0);
        }
        int vlan = vlan(project);
        List<Integer> rested =
                sql.list(columns -> columns.getInt(1), """
                SELECT host FROM address WHERE vlan = ? AND ticket IS NULL AND rests_until <= ? AND host >= ?
                ORDER BY rests_until, host LIMIT ?""", vlan, time.seconds(), NetworkPool.FIRST_HOST, slots);
        int highest = (int) sql.number("SELECT MAX(host) FROM address WHERE vlan = ?", vlan);
        int next = Math.max(highest + 1, NetworkPool.FIRST_HOST);
        int free = rested.size() + pool.lastHost() - next + 1;
        if (free < slots) {
            throw new PoolExhaustedException("addresses of VLAN " + vlan, slots, free, resting(vlan));
        }
        for (int slot = 0; slot < rested.size(); slot++) {
            once(sql.update(
                    "UPDATE address SET ticket = ?, slot = ? WHERE vlan = ? AND host = ? AND ticket IS NULL",
                    ticket,
                    slot,
                    vlan,
                    rested.get(slot)));
        }
        for (int slot = rested.size(); slot < slots; slot++) {
            once(sql.update("""
                    INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (?, ?, ?, ?, 0)
                    ON CONFLICT (vlan, host) DO NOTHING""", vlan, next++, ticket, slot));
        }
        return find(ticket).orElseThrow();
    }

    /**
     * Gives an opening the controlling VM's address in its project's VLAN, which the project gets if it has none. An
     * earlier opening loses it; it does not rest, for there is no other one.
     *
     * @param opening as of {@link #allocate}
     */
    public NetworkLease allocateController(String opening, String project)
            throws RelayDatabaseException, PoolExhaustedException {
        once(sql.update("""
                INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (?, ?, ?, 0, 0)
                ON CONFLICT (vlan, host) DO UPDATE SET ticket = excluded.ticket, slot = 0""", vlan(project), NetworkPool.CONTROLLER, opening));
        return find(opening).orElseThrow();
    }

    /** What the ticket or opening holds. */
    public Optional<NetworkLease> find(String ticket) throws RelayDatabaseException {
        List<int[]> rows = sql.list(
                columns -> new int[] {columns.getInt(1), columns.getInt(2)},
                "SELECT vlan, host FROM address WHERE ticket = ? ORDER BY slot",
                ticket);
        if (rows.isEmpty()) {
            return Optional.empty();
        }
        int vlan = rows.get(0)[0];
        Ipv4Network network = pool.network(vlan);
        List<String> addresses = new ArrayList<>();
        rows.forEach(row -> addresses.add(network.address(row[1])));
        return Optional.of(new NetworkLease(vlan, network, addresses));
    }

    /**
     * The ticket's addresses begin to rest.
     *
     * @return how many; 0 the second time
     */
    public int release(String ticket) throws RelayDatabaseException {
        time.store();
        return sql.update(
                "UPDATE address SET ticket = NULL, slot = NULL, rests_until = ? WHERE ticket = ?",
                restsUntil(),
                ticket);
    }

    private long restsUntil() {
        // One more: a second that has begun is counted as over.
        return time.seconds() + pool.reuseDelay().toSeconds() + 1;
    }

    private long resting(int vlan) throws RelayDatabaseException {
        return sql.number(
                "SELECT COUNT(*) FROM address WHERE vlan = ? AND ticket IS NULL AND rests_until > ? AND host >= ?",
                vlan,
                time.seconds(),
                NetworkPool.FIRST_HOST);
    }

    /** SQLite has one writer; elsewhere another one may have been faster. */
    private void once(int rows) throws RelayDatabaseException {
        if (rows != 1) {
            throw sql.trouble(Kind.LOCKED, "another relay took the same number; again will take another");
        }
    }
}
