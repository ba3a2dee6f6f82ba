package org.cloister.protocol.ticket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.identity.CertificateName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TicketTest {
    private static final OptionalInt NONE = OptionalInt.empty();

    private final SignedTicketFixture world = new SignedTicketFixture();

    TicketTest() throws Exception {}

    private static ResourceRequest request(int nodes, OptionalInt tasks, int cpus, OptionalInt perNode) {
        return new ResourceRequest(nodes, tasks, cpus, perNode, 1024, 0, false, 1, List.of());
    }

    private String text(Ticket ticket) {
        return new String(ticket.payload(), UTF_8);
    }

    @Test
    void what_is_written_is_read_again() throws Exception {
        Ticket whole = world.ticket(world.request());
        assertThat(Ticket.parse(whole.payload())).isEqualTo(whole);
        Ticket least = world.ticket(new ResourceRequest(1, NONE, 1, NONE, 0, 0, true, 1, List.of()));
        assertThat(Ticket.parse(least.payload())).isEqualTo(least);
        assertThat(text(least)).doesNotContain("tasks").doesNotContain("features");
        Withdrawal withdrawal = new Withdrawal(whole.id(), whole.project());
        assertThat(Withdrawal.parse(withdrawal.payload())).isEqualTo(withdrawal);
        Allocation allocation = world.allocation(whole, world.slots());
        assertThat(Allocation.parse(allocation.payload())).isEqualTo(allocation);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"nodes\":2|\"nodes\":0",
                "\"nodes\":2|\"nodes\":4097",
                "\"nodes\":2|\"nodes\":2.0",
                "\"nodes\":2|\"nodes\":\"2\"",
                "\"nodes\":2,|",
                "\"tasks\":5|\"tasks\":0",
                "\"tasks\":5|\"tasks\":1048577",
                "\"tasks\":5|\"tasks\":1",
                "\"tasks\":5|\"tasks\":7",
                "\"cpusPerTask\":4|\"cpusPerTask\":0",
                "\"cpusPerTask\":4|\"cpusPerTask\":4097",
                "\"cpusPerTask\":4|\"cpusPerTask\":4096",
                "\"tasksPerNode\":3|\"tasksPerNode\":0",
                "\"tasksPerNode\":3|\"tasksPerNode\":4097",
                "\"memoryMiB\":8192|\"memoryMiB\":0",
                "\"memoryMiB\":8192|\"memoryMiB\":16777217",
                "\"scratchMiB\":1024|\"scratchMiB\":-1",
                "\"scratchMiB\":1024|\"scratchMiB\":16777217",
                "\"exclusive\":false|\"exclusive\":0",
                "\"minutes\":60|\"minutes\":0",
                "\"minutes\":60|\"minutes\":527041",
                "[0,2]|[0,32]",
                "[0,2]|[2,0]",
                "[0,2]|[2,2]",
                "[0,2]|[-1]",
                "[0,2]|[]",
                "[0,2]|[0.0]",
                "[0,2]|[\"ib\"]",
                "\"epoch\":3|\"epoch\":0",
                "\"epoch\":3|\"epoch\":9007199254740992",
                "\"sequence\":7|\"sequence\":0",
                "\"sequence\":7|\"sequence\":9007199254740992",
                "10:10:00Z|11:00:01Z",
                "10:10:00Z|10:00:00Z",
                "10:10:00Z|10:10:00.5Z",
                "cloister-ticket-v1|cloister-ticket-v2",
                "{\"format\"|{\"critical\":[\"gpus\"],\"gpus\":1,\"format\"",
                "\"nodes\":2|\"nodes\":2,\"nodes\":2",
            })
    void what_is_out_of_its_range_is_refused(String change) {
        String good = text(world.ticket(world.request()));
        int bar = change.indexOf('|');
        String bad = good.replace(change.substring(0, bar), change.substring(bar + 1));
        assertThat(bad).isNotEqualTo(good);
        assertThatThrownBy(() -> Ticket.parse(bad.getBytes(UTF_8))).isInstanceOf(MalformedException.class);
    }

    @Test
    void each_range_has_both_its_ends() throws Exception {
        for (ResourceRequest each : List.of(
                new ResourceRequest(
                        4096, OptionalInt.of(1 << 20), 1, NONE, 1 << 24, 1 << 24, false, 527_040, List.of(31)),
                new ResourceRequest(1, OptionalInt.of(4096), 1, OptionalInt.of(4096), 1, 0, true, 1, List.of(0)),
                new ResourceRequest(1, NONE, 4096, OptionalInt.of(1), 0, 0, true, 1, List.of()))) {
            Ticket ticket = world.ticket(each);
            assertThat(Ticket.parse(ticket.payload()).request()).isEqualTo(each);
        }
        List<Integer> all = new ArrayList<>();
        for (int i = 0; i < 32; i++) {
            all.add(i);
        }
        ResourceRequest features = new ResourceRequest(1, NONE, 1, NONE, 1, 0, false, 1, all);
        assertThat(Ticket.parse(world.ticket(features).payload()).request()).isEqualTo(features);
        Ticket longest = new Ticket(
                "a".repeat(26),
                world.project.id(),
                Ticket.MAX_COUNT,
                Ticket.MAX_COUNT,
                SignedTicketFixture.NOW,
                SignedTicketFixture.NOW.plus(Duration.ofHours(1)),
                features);
        assertThat(Ticket.parse(longest.payload())).isEqualTo(longest);
        assertThat(longest.sign(world.controller.key()).bytes()).hasSizeLessThan(Ticket.MAX_BYTES);
    }

    @Test
    void an_id_is_26_characters_and_never_the_same() {
        SecureRandom random = new SecureRandom();
        assertThat(Ticket.newId(random)).matches(Ticket.ID).isNotEqualTo(Ticket.newId(random));
        for (String id : List.of("a".repeat(25), "a".repeat(27), "A".repeat(26), "a".repeat(25) + "1")) {
            assertThatThrownBy(() -> new Withdrawal(id, world.project.id())).hasMessageContaining("ticket");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1, , 1, , 1, 1",
        "3, , 4, , 4, 12",
        "2, 5, 4, , 12, 24",
        "2, 4, 4, , 8, 16",
        "2, 5, 4, 4, 16, 32",
        "2, , 4, 3, 12, 24",
        "4096, 1048576, 16, , 4096, 16777216"
    })
    void quota_counts_what_the_fullest_node_may_need(
            int nodes, Integer tasks, int cpus, Integer perNode, int ofNode, long inAll) {
        ResourceRequest request = request(
                nodes,
                tasks == null ? NONE : OptionalInt.of(tasks),
                cpus,
                perNode == null ? NONE : OptionalInt.of(perNode));
        assertThat(request.cpusPerNode()).isEqualTo(ofNode);
        assertThat(request.cpusInAll()).isEqualTo(inAll);
        assertThat(request.memoryMibInAll()).isEqualTo(1024L * nodes);
    }

    @Test
    void an_allocation_has_each_slot_node_key_and_address_once() {
        Ticket ticket = world.ticket(world.request());
        List<AllocatedSlot> good = world.slots();
        AllocatedSlot first = good.get(0);
        AllocatedSlot second = good.get(1);
        for (AllocatedSlot bad : List.of(
                first,
                slot(2, second.node(), second, second.address()),
                slot(1, first.node(), second, second.address()),
                slot(1, second.node(), first, second.address()),
                slot(1, second.node(), second, first.address()),
                slot(1, second.node(), second, ProjectAddress.parse("10.64.12.0")),
                slot(1, second.node(), second, ProjectAddress.parse("10.64.12.1")),
                slot(1, second.node(), second, ProjectAddress.parse("10.64.15.255")),
                slot(1, second.node(), second, ProjectAddress.parse("10.64.16.2")))) {
            assertThatThrownBy(() -> world.allocation(ticket, List.of(first, bad)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("slots[1]");
        }
        assertThatThrownBy(() -> world.allocation(ticket, List.of())).hasMessageContaining("slots");
    }

    private static AllocatedSlot slot(int place, String node, AllocatedSlot of, ProjectAddress address) {
        return new AllocatedSlot(place, node, of.host(), of.key(), address, of.cpus(), of.memoryMib());
    }

    @Test
    void the_largest_allocation_fits() throws Exception {
        List<AllocatedSlot> slots = new ArrayList<>();
        CertificateName host = new CertificateName("h".repeat(63), "host", CertificateName.SITE);
        for (int i = 0; i < ResourceRequest.MAX_NODES; i++) {
            slots.add(new AllocatedSlot(
                    i,
                    ("n" + i + "-").concat("x".repeat(64)).substring(0, 64),
                    host,
                    SignedTicketFixture.key(SignatureCurve.P256).verificationKey(),
                    new ProjectAddress(ProjectAddress.parse("10.64.16.2").bits() + i),
                    4096,
                    1 << 24));
        }
        Allocation allocation = new Allocation(
                new CertificateName("r".repeat(63), "relay", CertificateName.SITE),
                world.project.id(),
                "a".repeat(26),
                org.cloister.base.encoding.Digest.sha256(new byte[0]),
                Ticket.MAX_COUNT,
                Instant.parse("2026-11-21T10:00:00Z"),
                4094,
                ProjectSubnet.parse("10.64.0.0/10"),
                slots);
        assertThat(allocation.payload()).hasSizeLessThan(Allocation.MAX_BYTES);
        assertThat(allocation.sign(world.relay.key()).bytes()).hasSizeLessThan(Allocation.MAX_ENVELOPE);
        assertThat(Allocation.parse(allocation.payload())).isEqualTo(allocation);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "r1.relay.site|r1.host.site",
                "h1.host.site|h1.relay.site",
                "\"vlan\":103|\"vlan\":0",
                "\"vlan\":103|\"vlan\":4095",
                "10.64.12.0/22|10.64.12.0/21",
                "10.64.12.0/22|10.64.12.0/31",
                "10.64.12.0/22|10.64.12.0/022",
                "10.64.12.0/22|10.64.12.0",
                "10.64.12.2|10.64.12.02",
                "10.64.12.2|10.64.12.256",
                "\"globalJob\":4711|\"globalJob\":0",
                "\"cpus\":12|\"cpus\":0",
                "\"cpus\":12|\"cpus\":4097",
                "\"memoryMiB\":8192|\"memoryMiB\":0",
                "\"node\":\"n0\"|\"node\":\"n 0\"",
                "\"node\":\"n0\"|\"node\":\"\"",
                "\"key\":\"|\"key\":\"A",
                "\"digest\":\"|\"digest\":\"a",
            })
    void an_allocation_out_of_its_ranges_is_refused(String change) {
        String good = new String(
                world.allocation(world.ticket(world.request()), world.slots()).payload(), UTF_8);
        int bar = change.indexOf('|');
        String bad = good.replace(change.substring(0, bar), change.substring(bar + 1));
        assertThat(bad).isNotEqualTo(good);
        assertThatThrownBy(() -> Allocation.parse(bad.getBytes(UTF_8))).isInstanceOf(MalformedException.class);
    }

    @Test
    void words_are_those_of_the_wire() {
        assertThat(List.of(TicketState.values()))
                .allMatch(each -> TicketState.of(each.toString()).orElseThrow() == each);
        assertThat(List.of(TicketEnd.values()))
                .allMatch(each -> TicketEnd.of(each.toString()).orElseThrow() == each);
        assertThat(List.of(TicketClause.values()))
                .allMatch(each -> TicketClause.of(each.toString()).orElseThrow() == each);
        assertThat(TicketEnd.NODE_FAILED).hasToString("node-failed");
        assertThat(TicketClause.NO_SLURM).hasToString("no-slurm");
        assertThat(TicketState.of("Queued")).isEmpty();
    }
}
