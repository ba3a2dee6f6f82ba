package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.relay.state.StateSamples.CHAIN;
import static org.cloister.relay.state.StateSamples.ENVELOPE;
import static org.cloister.relay.state.StateSamples.NOON;
import static org.cloister.relay.state.StateSamples.OTHER;
import static org.cloister.relay.state.StateSamples.PROJECT;
import static org.cloister.relay.state.StateSamples.allocate;
import static org.cloister.relay.state.StateSamples.insert;
import static org.cloister.relay.state.StateSamples.is;
import static org.cloister.relay.state.StateSamples.list;
import static org.cloister.relay.state.StateSamples.maybe;
import static org.cloister.relay.state.StateSamples.number;
import static org.cloister.relay.state.StateSamples.request;
import static org.cloister.relay.state.StateSamples.row;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TicketTableTest {
    @TempDir
    Path folder = Path.of("");

    private RelayDatabase state;

    @BeforeEach
    void open() throws RelayDatabaseException {
        state = RelayDatabase.open(folder.resolve("relay.db"), NetworkPool.DEFAULT);
    }

    @AfterEach
    void close() {
        state.close();
    }

    @Test
    void a_ticket_goes_its_way_once_and_each_step_outlives_a_restart() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        byte[] allocation = "slots".getBytes(StandardCharsets.UTF_8);
        assertThat(row(state, "t1").state()).isEqualTo(TicketState.ACCEPTED);
        assertThat(is(state, t -> t.tickets().recordSubmission("t1", NOON.plusSeconds(1))))
                .isTrue();
        assertThat(is(state, t -> t.tickets().recordQueued("t1", 77))).isTrue();
        assertThat(is(state, t -> t.tickets().recordAllocation("t1", allocation)))
                .as("before it has nodes")
                .isFalse();
        assertThat(is(state, t -> t.tickets().recordRunning("t1", 77, List.of("n1", "n2"))))
                .isTrue();
        assertThat(is(state, t -> t.tickets().recordAllocation("t1", allocation)))
                .isTrue();
        assertThat(is(state, t -> t.tickets().recordAllocation("t1", ENVELOPE)))
                .as("another allocation")
                .isFalse();
        assertThat(is(state, t -> t.tickets().recordQueued("t1", 78)))
                .as("back to the queue")
                .isFalse();
        assertThat(is(state, t -> t.tickets().recordWithdrawal("t1"))).isTrue();
        assertThat(is(state, t -> t.tickets().recordWithdrawal("t1"))).isFalse();
        state.close();
        open();
        TicketRow running = row(state, "t1");
        assertThat(running)
                .isEqualTo(new TicketRow(
                        request("t1", PROJECT, 1),
                        TicketState.RUNNING,
                        true,
                        NOON.plusSeconds(1),
                        OptionalLong.of(77),
                        List.of("n1", "n2"),
                        true,
                        null,
                        null,
                        null));
        assertThat(maybe(state, t -> t.tickets().envelope("t1"))).hasValue(ENVELOPE);
        assertThat(maybe(state, t -> t.tickets().chain("t1"))).hasValue(CHAIN);
        assertThat(maybe(state, t -> t.tickets().allocation("t1"))).hasValue(allocation);
        assertThat(end("t1", TicketEnd.NODE_FAILED, NOON.plusSeconds(9))).isTrue();
        assertThat(end("t1", TicketEnd.COMPLETED, NOON.plusSeconds(10)))
                .as("a second end")
                .isFalse();
        assertThat(is(state, t -> t.tickets().recordRunning("t1", 77, List.of("n1"))))
                .as("a job that starts just after its ticket ended")
                .isFalse();
        assertThat(row(state, "t1").end()).isEqualTo(TicketEnd.NODE_FAILED);
        assertThat(row(state, "t1").ended()).isEqualTo(NOON.plusSeconds(9));
    }

    @Test
    void an_id_is_taken_once_and_a_repeated_ticket_is_known_as_such() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        assertThatThrownBy(() -> insert(state, request("t1", PROJECT, 1)))
                .isInstanceOfSatisfying(
                        DuplicateTicketException.class,
                        e -> assertThat(e.isSame()).isTrue());
        TicketRequest twin = request("t1", PROJECT, 2);
        TicketRequest other = new TicketRequest(
                "t1",
                PROJECT,
                twin.signer(),
                Digest.sha256(CHAIN),
                twin.position(),
                1,
                1,
                1,
                "astro",
                NOON,
                Optional.empty());
        assertThatThrownBy(() -> insert(state, other))
                .isInstanceOfSatisfying(
                        DuplicateTicketException.class,
                        e -> assertThat(e.isSame()).isFalse());
        assertThatThrownBy(() -> insert(state, request("t1", OTHER, 1)))
                .isInstanceOfSatisfying(
                        DuplicateTicketException.class,
                        e -> assertThat(e.isSame()).isFalse());
        assertThat(list(state, t -> t.tickets().open())).hasSize(1);
    }

    @Test
    void tickets_of_a_project_come_in_order_of_epoch_and_number() throws Exception {
        insert(state, request("t1", PROJECT, new TicketPosition(2, 5), 1));
        insert(state, request("t2", OTHER, new TicketPosition(1, 1), 1));
        assertThatThrownBy(() -> insert(state, request("t3", PROJECT, new TicketPosition(2, 5), 1)))
                .isInstanceOf(TicketSequenceException.class)
                .hasMessage("project " + PROJECT + ": want a ticket after epoch 2 number 5, have epoch 2 number 5");
        assertThatThrownBy(() -> insert(state, request("t3", PROJECT, new TicketPosition(1, 99), 1)))
                .isInstanceOf(TicketSequenceException.class);
        insert(state, request("t3", PROJECT, new TicketPosition(3, 1), 1));
        assertThat(maybe(state, t -> t.tickets().highest(PROJECT))).hasValue(new TicketPosition(3, 1));
        assertThat(maybe(state, t -> t.tickets().highest(OTHER))).hasValue(new TicketPosition(1, 1));
        assertThat(maybe(state, t -> t.tickets().highest("none"))).isEmpty();
    }

    @Test
    void usage_counts_the_open_tickets_of_one_project() throws Exception {
        insert(state, request("t1", PROJECT, new TicketPosition(1, 1), 3));
        insert(state, request("t2", PROJECT, new TicketPosition(1, 2), 2));
        insert(state, request("t3", OTHER, new TicketPosition(1, 1), 7));
        assertThat(usage(PROJECT)).isEqualTo(new QuotaUsage(2, 5, 20, 5 * 1024, 5));
        end("t1", TicketEnd.COMPLETED, NOON);
        assertThat(usage(PROJECT)).isEqualTo(new QuotaUsage(1, 2, 8, 2 * 1024, 2));
        assertThat(usage("none")).isEqualTo(QuotaUsage.NONE);
        assertThat(list(state, t -> t.tickets().open()))
                .extracting(TicketRow::id)
                .containsExactly("t3", "t2");
        assertThat(list(state, t -> t.tickets().endedSince(NOON, 10)))
                .extracting(TicketRow::id)
                .containsExactly("t1");
        assertThat(list(state, t -> t.tickets().endedSince(NOON.plusMillis(1), 10)))
                .isEmpty();
    }

    @Test
    void a_ticket_long_ended_is_forgotten_and_can_still_not_come_again() throws Exception {
        for (int i = 1; i <= 5; i++) {
            insert(state, request("t" + i, PROJECT, i));
            end("t" + i, TicketEnd.COMPLETED, NOON.plusSeconds(i));
        }
        state.transact(t -> t.slots().claim("t1", 0, "h1", NOON));
        state.transact(t -> t.slots().addStatement("t1", "key", ENVELOPE, CHAIN));
        allocate(state, "t2", PROJECT, 1);
        Instant limit = NOON.plusSeconds(5);
        assertThat(number(state, t -> t.tickets().forget(limit, 2))).isEqualTo(2);
        assertThat(number(state, t -> t.tickets().forget(limit, 2))).isEqualTo(1);
        assertThat(number(state, t -> t.tickets().forget(limit, 2)))
                .as("t2 holds an address, t5 ended too late")
                .isZero();
        assertThat(list(state, t -> t.slots().claims("t1"))).isEmpty();
        assertThat(parts("t1")).isEmpty();
        state.transact(t -> t.numbers().release("t2"));
        assertThat(number(state, t -> t.tickets().forget(limit.plus(TicketTable.KEPT), 9)))
                .isEqualTo(2);
        assertThatThrownBy(() -> insert(state, request("t1", PROJECT, 1))).isInstanceOf(TicketSequenceException.class);
        assertThatThrownBy(() -> insert(state, request("t5", PROJECT, 5))).isInstanceOf(TicketSequenceException.class);
        assertThat(TicketTable.KEPT).isEqualTo(Duration.ofDays(30));
    }

    @Test
    void a_slot_has_the_host_that_claimed_it_first_and_a_signer_one_part() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        assertThat(claimed("t1", 0, "h1")).isEqualTo("h1");
        assertThat(claimed("t1", 0, "h2")).isEqualTo("h1");
        assertThat(claimed("t1", 1, "h2")).isEqualTo("h2");
        assertThat(list(state, t -> t.slots().claims("t1")))
                .containsExactly(new SlotRecords.Claim(0, "h1", NOON), new SlotRecords.Claim(1, "h2", NOON));
        assertThat(is(state, t -> t.slots().addStatement("t1", "key", ENVELOPE, CHAIN)))
                .isTrue();
        assertThat(is(state, t -> t.slots().addStatement("t1", "key", CHAIN, ENVELOPE)))
                .isFalse();
        assertThat(parts("t1"))
                .containsExactly(Map.entry(
                        "key",
                        new SlotRecords.StoredStatement(ByteString.copyFrom(ENVELOPE), ByteString.copyFrom(CHAIN))));
    }

    @Test
    void what_is_done_in_part_is_undone_in_part_or_whole() throws Exception {
        state.<Boolean, StateConflictException>transact(t -> {
            t.tickets().insert(request("t1", PROJECT, 1), ENVELOPE, CHAIN);
            assertThatThrownBy(() -> t.attempt(part -> {
                        part.tickets().insert(request("t2", PROJECT, 2), ENVELOPE, CHAIN);
                        return part.numbers().allocate("t2", PROJECT, 5000);
                    }))
                    .isInstanceOf(PoolExhaustedException.class);
            t.tickets().insert(request("t3", PROJECT, 2), ENVELOPE, CHAIN);
            return true;
        });
        assertThat(list(state, t -> t.tickets().open()))
                .extracting(TicketRow::id)
                .containsExactly("t1", "t3");
        assertThatThrownBy(() -> state.transact(t -> {
                    t.tickets().recordEnd("t1", TicketEnd.LOST, "", NOON);
                    throw new IllegalArgumentException("late");
                }))
                .hasMessage("late");
        assertThat(row(state, "t1").state()).isEqualTo(TicketState.ACCEPTED);
    }

    @Test
    void a_transaction_that_is_over_cannot_be_used() throws Exception {
        RelayTransaction kept = state.transact(t -> t);
        assertThatThrownBy(() -> kept.tickets().open()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> state.transact(t -> state.transact(u -> 1))).isInstanceOf(IllegalStateException.class);
        assertThat(list(state, t -> t.tickets().open())).isEmpty();
    }

    @Test
    void states_and_ends_are_written_as_the_protocol_has_them() {
        assertThat(TicketState.values())
                .extracting(TicketState::toString)
                .containsExactly("accepted", "queued", "running", "ended");
        assertThat(TicketEnd.values())
                .extracting(TicketEnd::toString)
                .containsExactly(
                        "completed",
                        "failed",
                        "withdrawn",
                        "cancelled",
                        "timeout",
                        "node-failed",
                        "preempted",
                        "refused",
                        "revoked",
                        "lost",
                        "not-started",
                        "superseded");
    }

    private String claimed(String id, int slot, String host) throws RelayDatabaseException {
        return state.transact(t -> t.slots().claim(id, slot, host, NOON));
    }

    private SortedMap<String, SlotRecords.StoredStatement> parts(String id) throws RelayDatabaseException {
        return state.transact(t -> t.slots().statements(id));
    }

    private boolean end(String id, TicketEnd end, Instant when) throws RelayDatabaseException {
        return state.transact(t -> t.tickets().recordEnd(id, end, "", when));
    }

    private QuotaUsage usage(String project) throws RelayDatabaseException {
        return state.transact(t -> t.tickets().usage(project));
    }
}
