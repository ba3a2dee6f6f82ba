package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.relay.state.StateSamples.OTHER;
import static org.cloister.relay.state.StateSamples.PROJECT;
import static org.cloister.relay.state.StateSamples.allocate;
import static org.cloister.relay.state.StateSamples.insert;
import static org.cloister.relay.state.StateSamples.list;
import static org.cloister.relay.state.StateSamples.maybe;
import static org.cloister.relay.state.StateSamples.number;
import static org.cloister.relay.state.StateSamples.opening;
import static org.cloister.relay.state.StateSamples.request;
import static org.cloister.relay.state.StateSamples.row;

import com.google.protobuf.ByteString;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketPosition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpeningRowsTest {
    @TempDir
    Path folder = Path.of("");

    private RelayDatabase state;

    @BeforeEach
    void open() throws RelayDatabaseException {
        state = RelayDatabase.open(folder.resolve("relay.db"), StateSamples.SMALL);
    }

    @AfterEach
    void close() {
        state.close();
    }

    private NetworkLease allocateController(String id, String project)
            throws RelayDatabaseException, PoolExhaustedException {
        return state.transact(t -> t.numbers().allocateController(id, project));
    }

    private void end(String id) throws RelayDatabaseException {
        state.transact(t -> t.tickets().recordEnd(id, TicketEnd.SUPERSEDED, "", StateSamples.NOON));
        state.transact(t -> t.numbers().release(id));
    }

    @Test
    void epochs_of_openings_go_up_for_good_and_are_no_tickets_numbers() throws Exception {
        insert(state, request("t1", PROJECT, new TicketPosition(9, 9), 1));
        insert(state, opening("o1", PROJECT, 3));
        insert(state, opening("o9", OTHER, 1));
        for (long old : new long[] {1, 2, 3}) {
            assertThatThrownBy(() -> insert(state, opening("o2", PROJECT, old)))
                    .isInstanceOf(TicketSequenceException.class);
        }
        insert(state, opening("o2", PROJECT, 9));
        insert(state, request("t2", PROJECT, new TicketPosition(9, 10), 1));
        end("o1");
        end("o2");
        assertThat(number(state, t -> t.tickets().forget(StateSamples.NOON.plus(Duration.ofDays(1)), 10)))
                .isEqualTo(2);
        close();
        open();
        assertThat(number(state, t -> t.tickets().highestOpening(PROJECT))).isEqualTo(9);
        assertThat(number(state, t -> t.tickets().highestOpening("x"))).isZero();
        assertThatThrownBy(() -> insert(state, opening("o3", PROJECT, 9))).isInstanceOf(TicketSequenceException.class);
    }

    @Test
    void what_is_an_opening_its_drive_says_after_a_restart_too() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        insert(state, opening("o1", PROJECT, 1));
        insert(state, opening("o2", PROJECT, 2));
        close();
        open();
        assertThat(row(state, "t1").isOpening()).isFalse();
        assertThat(row(state, "o1").request()).isEqualTo(opening("o1", PROJECT, 1));
        assertThat(list(state, t -> t.tickets().openOpenings(PROJECT)))
                .extracting(TicketRow::id)
                .containsExactly("o1", "o2");
        assertThat(state.<QuotaUsage, RuntimeException>transact(t -> t.tickets().usage(PROJECT)))
                .isEqualTo(new QuotaUsage(3, 3, 12, 3072, 3));
        assertThat(state.<QuotaUsage, RuntimeException>transact(t -> t.tickets().usageOfTickets(PROJECT)))
                .isEqualTo(new QuotaUsage(1, 1, 4, 1024, 1));
        end("o1");
        assertThat(list(state, t -> t.tickets().openOpenings(PROJECT)))
                .extracting(TicketRow::id)
                .containsExactly("o2");
    }

    @Test
    void the_first_address_is_the_newest_opening_s_and_never_a_worker_s() throws Exception {
        insert(state, opening("o1", PROJECT, 1));
        NetworkLease first = allocateController("o1", PROJECT);
        assertThat(first.addresses()).containsExactly(first.network().address(1));
        insert(state, request("t1", PROJECT, new TicketPosition(1, 1), 5));
        NetworkLease workers = allocate(state, "t1", PROJECT, 5);
        assertThat(workers.vlan()).isEqualTo(first.vlan());
        assertThat(workers.addresses()).doesNotContain(first.addresses().get(0)).hasSize(5);

        insert(state, opening("o2", PROJECT, 2));
        assertThat(allocateController("o2", PROJECT)).isEqualTo(first);
        assertThat(maybe(state, t -> t.numbers().find("o1"))).isEmpty();
        end("o1");
        assertThat(maybe(state, t -> t.numbers().find("o2"))).hasValue(first);
        assertThat(list(state, t -> t.numbers().idleProjects())).isEmpty();
        end("o2");
        end("t1");
        assertThat(list(state, t -> t.numbers().idleProjects())).isEqualTo(List.of(PROJECT));

        insert(state, request("t2", PROJECT, new TicketPosition(1, 2), 1));
        assertThatThrownBy(() -> allocate(state, "t2", PROJECT, 1))
                .as("workers' addresses rest, and the controlling VM's is none of them")
                .isInstanceOf(PoolExhaustedException.class);
        insert(state, opening("o3", PROJECT, 3));
        assertThat(allocateController("o3", PROJECT)).isEqualTo(first);
    }

    @Test
    void a_database_of_the_first_version_keeps_its_tickets() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        NetworkLease held = allocate(state, "t1", PROJECT, 1);
        state.transact(t -> t.slots().claim("t1", 0, "h1", StateSamples.NOON));
        state.transact(t -> t.slots().addStatement("t1", "key", StateSamples.ENVELOPE, StateSamples.CHAIN));
        close();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("relay.db"));
                Statement statement = connection.createStatement()) {
            statement.execute("ALTER TABLE ticket DROP COLUMN drive");
            statement.execute("DROP TABLE project_opening");
            statement.execute("ALTER TABLE receipt_part DROP COLUMN chain");
            statement.execute("ALTER TABLE claim DROP COLUMN since");
            statement.execute("UPDATE schema_version SET version = 1");
        }
        open();
        assertThat(row(state, "t1").request()).isEqualTo(request("t1", PROJECT, 1));
        assertThat(maybe(state, t -> t.numbers().find("t1"))).hasValue(held);
        assertThat(list(state, t -> t.slots().claims("t1"))).containsExactly(new SlotRecords.Claim(0, "h1", null));
        SortedMap<String, SlotRecords.StoredStatement> parts =
                state.transact(t -> t.slots().statements("t1"));
        assertThat(parts)
                .containsExactly(Map.entry(
                        "key",
                        new SlotRecords.StoredStatement(ByteString.copyFrom(StateSamples.ENVELOPE), ByteString.EMPTY)));
        insert(state, opening("o1", PROJECT, 1));
        assertThat(row(state, "o1").isOpening()).isTrue();
    }
}
