package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.relay.state.StateSamples.NOON;
import static org.cloister.relay.state.StateSamples.OTHER;
import static org.cloister.relay.state.StateSamples.PROJECT;
import static org.cloister.relay.state.StateSamples.SMALL;
import static org.cloister.relay.state.StateSamples.allocate;
import static org.cloister.relay.state.StateSamples.insert;
import static org.cloister.relay.state.StateSamples.is;
import static org.cloister.relay.state.StateSamples.list;
import static org.cloister.relay.state.StateSamples.maybe;
import static org.cloister.relay.state.StateSamples.number;
import static org.cloister.relay.state.StateSamples.pass;
import static org.cloister.relay.state.StateSamples.request;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.base.address.Ipv4Network;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.state.RelayDatabaseException.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NetworkAllocatorTest {
    @TempDir
    Path folder = Path.of("");

    private final AtomicLong nanos = new AtomicLong();
    private RelayDatabase state;

    @BeforeEach
    void open() throws RelayDatabaseException {
        reopen(SMALL);
    }

    @AfterEach
    void close() {
        state.close();
    }

    @Test
    void a_ticket_has_an_address_for_each_slot_after_the_controlling_vms() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        insert(state, request("t2", PROJECT, 2));
        NetworkLease first = allocate(state, "t1", PROJECT, 2);
        assertThat(first.vlan()).isEqualTo(100);
        assertThat(first.network()).hasToString("10.64.3.32/29");
        assertThat(first.addresses()).containsExactly("10.64.3.34", "10.64.3.35");
        assertThat(allocate(state, "t2", PROJECT, 3).addresses())
                .containsExactly("10.64.3.36", "10.64.3.37", "10.64.3.38");
        assertThat(maybe(state, t -> t.numbers().find("t1"))).hasValue(first);
        assertThat(maybe(state, t -> t.numbers().find("t3"))).isEmpty();
    }

    @Test
    void addresses_rest_before_they_are_used_again_and_the_longest_rested_goes_first() throws Exception {
        for (int i = 1; i <= 9; i++) {
            insert(state, request("t" + i, PROJECT, i));
        }
        allocate(state, "t1", PROJECT, 2);
        allocate(state, "t2", PROJECT, 3);
        assertThat(number(state, t -> t.numbers().release("t2"))).isEqualTo(3);
        assertThat(number(state, t -> t.numbers().release("t2"))).as("again").isZero();
        pass(nanos, Duration.ofSeconds(30));
        assertThat(number(state, t -> t.numbers().release("t1"))).isEqualTo(2);
        assertThatThrownBy(() -> allocate(state, "t3", PROJECT, 1))
                .isInstanceOfSatisfying(PoolExhaustedException.class, e -> {
                    assertThat(e.wanted()).isEqualTo(1);
                    assertThat(e.free()).isZero();
                })
                .hasMessage("addresses of VLAN 100: 1 needed, 0 free, and 5 that wait for reuse");
        pass(nanos, Duration.ofMillis(30_999));
        assertThatThrownBy(() -> allocate(state, "t3", PROJECT, 1)).isInstanceOf(PoolExhaustedException.class);
        pass(nanos, Duration.ofMillis(1));
        assertThatThrownBy(() -> allocate(state, "t3", PROJECT, 4))
                .hasMessageContaining("4 needed, 3 free, and 2 that");
        assertThat(allocate(state, "t3", PROJECT, 2).addresses()).containsExactly("10.64.3.36", "10.64.3.37");
        pass(nanos, Duration.ofSeconds(30));
        assertThat(allocate(state, "t4", PROJECT, 3).addresses())
                .containsExactly("10.64.3.38", "10.64.3.34", "10.64.3.35");
    }

    @Test
    void rest_is_counted_in_time_that_the_relay_runs() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        insert(state, request("t2", PROJECT, 2));
        allocate(state, "t1", PROJECT, 5);
        state.transact(t -> t.numbers().release("t1"));
        pass(nanos, Duration.ofSeconds(40));
        reopen(SMALL);
        // What was not stored counts as not run.
        pass(nanos, Duration.ofSeconds(40));
        assertThatThrownBy(() -> allocate(state, "t2", PROJECT, 1)).isInstanceOf(PoolExhaustedException.class);
        state.transact(t -> {
            t.numbers().tick();
            return true;
        });
        pass(nanos, Duration.ofDays(1));
        reopen(SMALL);
        pass(nanos, Duration.ofSeconds(21));
        assertThat(allocate(state, "t2", PROJECT, 1).addresses()).hasSize(1);
    }

    @Test
    void a_project_keeps_its_vlan_until_nothing_of_it_is_held_and_the_vlan_rests_too() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        allocate(state, "t1", PROJECT, 1);
        assertThat(vlan(PROJECT)).isEqualTo(100);
        assertThat(vlan(OTHER)).isEqualTo(101);
        assertThat(vlan("third")).as("102 is reserved").isEqualTo(103);
        assertThat(list(state, t -> t.numbers().idleProjects())).containsExactly(OTHER, "third");
        assertThat(is(state, t -> t.numbers().releaseVlan(PROJECT)))
                .as("it holds an address")
                .isFalse();
        state.transact(t -> t.numbers().release("t1"));
        assertThat(is(state, t -> t.numbers().releaseVlan(PROJECT))).isTrue();
        assertThat(is(state, t -> t.numbers().releaseVlan(PROJECT))).as("again").isFalse();
        assertThat(vlan("fourth")).isEqualTo(104);
        assertThat(vlans()).isEqualTo(new NetworkAllocator.VlanCounts(3, 1, 0));
        assertThatThrownBy(() -> vlan("fifth"))
                .isInstanceOf(PoolExhaustedException.class)
                .hasMessage("VLANs: 1 needed, 0 free, and 1 that wait for reuse");
        pass(nanos, Duration.ofSeconds(61));
        assertThat(vlans()).isEqualTo(new NetworkAllocator.VlanCounts(3, 0, 1));
        assertThat(vlan("fifth")).isEqualTo(100);
        assertThatThrownBy(() -> vlan(PROJECT)).hasMessage("VLANs: 1 needed, 0 free");
    }

    @Test
    void more_slots_than_a_vlan_has_are_refused_and_nothing_is_held() throws Exception {
        insert(state, request("t1", PROJECT, 1));
        assertThatThrownBy(() -> allocate(state, "t1", PROJECT, 6))
                .hasMessage("addresses of one VLAN: 6 needed, 5 free");
        assertThat(vlans()).isEqualTo(new NetworkAllocator.VlanCounts(0, 0, 4));
        assertThat(allocate(state, "t1", PROJECT, 5).addresses()).hasSize(5);
    }

    @Test
    void another_network_waits_until_no_address_is_held_or_rests() throws Exception {
        NetworkPool moved =
                new NetworkPool(Ipv4Network.parse("10.96.0.0/16"), 29, 100, 104, Set.of(102), Duration.ofSeconds(60));
        insert(state, request("t1", PROJECT, 1));
        allocate(state, "t1", PROJECT, 2);
        assertThatThrownBy(() -> reopen(moved))
                .isInstanceOfSatisfying(
                        RelayDatabaseException.class,
                        e -> assertThat(e.failure()).isEqualTo(Kind.POOL))
                .hasMessageContaining(
                        "2 addresses of 10.64.0.0/16 in /29 are allocated or wait for reuse, and 10.96.0.0/16 in /29 is"
                                + " configured");
        reopen(SMALL);
        state.transact(t -> t.tickets().recordEnd("t1", TicketEnd.LOST, "", NOON));
        state.transact(t -> t.numbers().release("t1"));
        assertThatThrownBy(() -> reopen(moved)).isInstanceOf(RelayDatabaseException.class);
        reopen(SMALL);
        pass(nanos, Duration.ofSeconds(61));
        state.transact(t -> {
            t.numbers().tick();
            return true;
        });
        reopen(moved);
        insert(state, request("t2", PROJECT, 2));
        assertThat(allocate(state, "t2", PROJECT, 1).addresses()).containsExactly("10.96.3.34");
    }

    @Test
    void a_vlan_that_is_held_is_not_taken_out_of_the_pool() throws Exception {
        NetworkPool fewer = new NetworkPool(SMALL.network(), 29, 101, 104, Set.of(), SMALL.reuseDelay());
        assertThat(vlan(PROJECT)).isEqualTo(100);
        assertThatThrownBy(() -> reopen(fewer))
                .isInstanceOf(RelayDatabaseException.class)
                .hasMessageContaining("VLAN 100 of project " + PROJECT + " is allocated, and 101 to 104 without [] is");
        reopen(SMALL);
        state.transact(t -> t.numbers().releaseVlan(PROJECT));
        reopen(fewer);
        assertThat(vlans()).isEqualTo(new NetworkAllocator.VlanCounts(0, 0, 4));
        assertThat(vlan(PROJECT)).isEqualTo(101);
        assertThat(vlan(OTHER)).as("no more reserved").isEqualTo(102);
        reopen(new NetworkPool(SMALL.network(), 29, 100, 104, Set.of(), SMALL.reuseDelay()));
        assertThat(vlans()).as("100 came back, and still rests").isEqualTo(new NetworkAllocator.VlanCounts(2, 1, 2));
    }

    private int vlan(String project) throws RelayDatabaseException, PoolExhaustedException {
        return state.transact(t -> t.numbers().vlan(project));
    }

    private NetworkAllocator.VlanCounts vlans() throws RelayDatabaseException {
        return state.transact(t -> t.numbers().vlans());
    }

    private void reopen(NetworkPool pool) throws RelayDatabaseException {
        if (state != null) {
            state.close();
        }
        state = StateSamples.open(folder.resolve("relay.db"), pool, nanos);
    }
}
