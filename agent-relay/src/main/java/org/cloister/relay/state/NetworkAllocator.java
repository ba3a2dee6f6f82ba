package org.cloister.relay.state;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.base.address.Ipv4Network;
import org.cloister.relay.state.RelayDatabaseException.Kind;

/**
 * Allocates VLANs to projects, and addresses to tickets and openings. A released number is not reused during the reuse
 * delay, which counts seconds that the relay runs; the number released first is reused first.
 */
public final class NetworkAllocator {
    /** Numbers of VLANs in the pool. */
    public record VlanCounts(int allocated, int resting, int free) {}

    private final SqlSession sql;
    private final NetworkPool pool;
    private final AccumulatedUptime time;

    NetworkAllocator(SqlSession sql, NetworkPool pool, AccumulatedUptime time) {
        this.sql = sql;
        this.pool = pool;
        this.time = time;
    }

    /**
     * Stores how long the relay has run. Once a minute is enough, because time that is not stored before a kill only
     * lengthens the reuse delay.
     */
    public void tick() throws RelayDatabaseException {
        time.store();
    }

    public OptionalInt vlanOf(String project) throws RelayDatabaseException {
        long number = sql.number("SELECT number FROM vlan WHERE project = ?", project);
        return number == 0 ? OptionalInt.empty() : OptionalInt.of((int) number);
    }

    /** Returns the project's VLAN: the one it has, or a free one, which it then keeps until {@link #releaseVlan}. */
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

    /**
     * Releases the project's VLAN, which starts its reuse delay, unless a ticket of the project holds an address in it.
     *
     * @return whether the VLAN was released
     */
    public boolean releaseVlan(String project) throws RelayDatabaseException {
        time.store();
        String release = """
                UPDATE vlan SET project = NULL, rests_until = ? WHERE project = ? AND NOT EXISTS (
                SELECT 1 FROM address WHERE address.vlan = vlan.number AND address.ticket IS NOT NULL)""";
        return sql.update(release, restsUntil(), project) == 1;
    }

    /** Returns the projects whose VLAN has no address that a ticket holds. */
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
     * Allocates an address for each slot of a ticket in its project's VLAN, which the project gets if it has none.
     *
     * @param ticket recorded before, in this transaction or an earlier one, and holding no address
     * @throws PoolExhaustedException no address was allocated then, but the project may have got a VLAN; use
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
     * Allocates the controlling VM's address in its project's VLAN to an opening; the project gets a VLAN if it has
     * none. An earlier opening loses the address, which has no reuse delay, because there is only one.
     *
     * @param opening as in {@link #allocate}
     */
    public NetworkLease allocateController(String opening, String project)
            throws RelayDatabaseException, PoolExhaustedException {
        String allocate = """
                INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (?, ?, ?, 0, 0)
                ON CONFLICT (vlan, host) DO UPDATE SET ticket = excluded.ticket, slot = 0""";
        once(sql.update(allocate, vlan(project), NetworkPool.CONTROLLER, opening));
        return find(opening).orElseThrow();
    }

    /** Returns the addresses that the ticket or opening holds. */
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
     * Releases the ticket's addresses, which starts their reuse delay.
     *
     * @return the number of released addresses; 0 the second time
     */
    public int release(String ticket) throws RelayDatabaseException {
        time.store();
        return sql.update(
                "UPDATE address SET ticket = NULL, slot = NULL, rests_until = ? WHERE ticket = ?",
                restsUntil(),
                ticket);
    }

    private long restsUntil() {
        // One second more, because a started second counts as a full one.
        return time.seconds() + pool.reuseDelay().toSeconds() + 1;
    }

    private long resting(int vlan) throws RelayDatabaseException {
        return sql.number(
                "SELECT COUNT(*) FROM address WHERE vlan = ? AND ticket IS NULL AND rests_until > ? AND host >= ?",
                vlan,
                time.seconds(),
                NetworkPool.FIRST_HOST);
    }

    /**
     * Requires that one row changed. SQLite has one writer; with another database another writer may have been faster.
     */
    private void once(int rows) throws RelayDatabaseException {
        if (rows != 1) {
            throw sql.failure(Kind.LOCKED, "another relay allocated the same number; a retry allocates another one");
        }
    }
}
