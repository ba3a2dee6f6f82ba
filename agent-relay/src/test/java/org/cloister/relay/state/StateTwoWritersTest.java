package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.relay.state.StateSamples.PROJECT;
import static org.cloister.relay.state.StateSamples.allocate;
import static org.cloister.relay.state.StateSamples.insert;
import static org.cloister.relay.state.StateSamples.request;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.cloister.protocol.ticket.TicketPosition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests what the tables themselves refuse, whoever writes: two relays that do not know of each other, or a mistake of
 * ours.
 */
class StateTwoWritersTest {
    /** The same without the lock that keeps a second one out. */
    private static final SqlDialect SHARED = new SqlDialect(
            SqlDialect.SQLITE.opening().stream()
                    .filter(each -> !each.contains("locking_mode"))
                    .map(each -> each.replace("busy_timeout = 2000", "busy_timeout = 60000"))
                    .toList(),
            SqlDialect.SQLITE.check(),
            SqlDialect.SQLITE.begin(),
            SqlDialect.SQLITE.identity(),
            SqlDialect.SQLITE.bytes());

    private static final int EACH = 150;

    @TempDir
    Path folder = Path.of("");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (100, 2, 't2', 0, 0)",
                "INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (100, 3, 't1', 0, 0)",
                "INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (100, 3, 'none', 0, 0)",
                "INSERT INTO address (vlan, host, ticket, slot, rests_until) VALUES (100, 3, 't2', NULL, 0)",
                "INSERT INTO vlan (number, usable, project, rests_until) VALUES (100, 1, 'other', 0)",
                "UPDATE vlan SET project = (SELECT project FROM vlan WHERE number = 100) WHERE number = 101",
                "INSERT INTO claim (ticket, slot, host) VALUES ('t1', 0, 'h2')",
                "INSERT INTO receipt_part (ticket, signer, envelope) VALUES ('t1', 'key', 'x')",
                "UPDATE ticket SET number = 1 WHERE id = 't2'",
                "UPDATE ticket SET id = 't1' WHERE id = 't2'",
                "UPDATE ticket SET state = 'ended' WHERE id = 't2'",
                "UPDATE ticket SET state = 'half' WHERE id = 't2'",
                "DELETE FROM ticket WHERE id = 't1'",
            })
    void what_would_double_or_orphan_something_is_refused_by_the_tables(String statement) throws Exception {
        Path file = folder.resolve("relay.db");
        try (RelayDatabase state = RelayDatabase.open(file, StateSamples.SMALL)) {
            insert(state, request("t1", PROJECT, 1));
            insert(state, request("t2", PROJECT, 2));
            allocate(state, "t1", PROJECT, 1);
            state.transact(t -> t.slots().claim("t1", 0, "h1", StateSamples.NOON));
            state.transact(t -> t.slots().addStatement("t1", "key", StateSamples.ENVELOPE, StateSamples.CHAIN));
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file)) {
            try (PreparedStatement keys = connection.prepareStatement("PRAGMA foreign_keys = ON")) {
                keys.execute();
            }
            assertThatThrownBy(() -> {
                        try (PreparedStatement prepared = connection.prepareStatement(statement)) {
                            prepared.executeUpdate();
                        }
                    })
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("CONSTRAINT");
        }
    }

    @Test
    void two_relays_on_one_database_never_give_a_number_twice() throws Exception {
        Path file = folder.resolve("relay.db");
        try (RelayDatabase one = RelayDatabase.open(file, NetworkPool.DEFAULT, SHARED, System::nanoTime);
                RelayDatabase two = RelayDatabase.open(file, NetworkPool.DEFAULT, SHARED, System::nanoTime)) {
            ExecutorService threads = Executors.newFixedThreadPool(4);
            try {
                List<Future<Integer>> all = new ArrayList<>();
                for (int writer = 0; writer < 4; writer++) {
                    all.add(threads.submit(writes(writer % 2 == 0 ? one : two, writer)));
                }
                int leases = 0;
                for (Future<Integer> each : all) {
                    leases += each.get();
                }
                assertThat(leases).isEqualTo(4 * EACH * 2);
            } finally {
                threads.shutdownNow();
            }
        }
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                PreparedStatement held = connection.prepareStatement(
                        "SELECT COUNT(*), COUNT(DISTINCT vlan * 65536 + host), COUNT(DISTINCT vlan) FROM address"
                                + " WHERE ticket IS NOT NULL");
                ResultSet counts = held.executeQuery()) {
            assertThat(counts.next()).isTrue();
            assertThat(counts.getInt(1)).isEqualTo(4 * EACH * 2);
            assertThat(counts.getInt(2)).isEqualTo(4 * EACH * 2);
            assertThat(counts.getInt(3)).as("three projects").isEqualTo(3);
        }
    }

    /** Projects are shared between the relays, so that both reach for one VLAN's addresses. */
    private static Callable<Integer> writes(RelayDatabase state, int writer) {
        return () -> {
            int leases = 0;
            for (int i = 0; i < EACH; i++) {
                String id = "t" + writer + "-" + i;
                String project = "project" + i % 3;
                leases += state.<NetworkLease, StateConflictException>transact(t -> {
                            TicketPosition highest =
                                    t.tickets().highest(project).orElse(new TicketPosition(1, 0));
                            t.tickets()
                                    .insert(
                                            request(id, project, highest.sequence() + 1),
                                            StateSamples.ENVELOPE,
                                            StateSamples.CHAIN);
                            return t.numbers().allocate(id, project, 2);
                        })
                        .addresses()
                        .size();
            }
            return leases;
        };
    }
}
