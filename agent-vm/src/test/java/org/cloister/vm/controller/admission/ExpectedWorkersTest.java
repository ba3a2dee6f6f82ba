package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.receipt.ReceiptFixture;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Ticket;
import org.junit.jupiter.api.Test;

/**
 * Tests from which allocation workers are expected: one that a relay signed is the ticket's only if it names this
 * ticket.
 */
class ExpectedWorkersTest {
    private static final String OTHER = "a".repeat(26);

    private final ReceiptFixture fixture = new ReceiptFixture(2);
    private final Ticket ticket = fixture.ticket;
    private final Allocation assigned = fixture.allocation;
    private final ExpectedWorkers expected = new ExpectedWorkers();

    ExpectedWorkersTest() throws Exception {}

    private static Allocation of(
            Allocation assigned, String project, String id, Digest digest, List<AllocatedSlot> slots) {
        return new Allocation(
                assigned.relay(),
                project,
                id,
                digest,
                assigned.globalJob(),
                assigned.issued(),
                assigned.vlan(),
                assigned.network(),
                slots);
    }

    private void refused(Allocation allocation, String what) {
        assertThatThrownBy(() -> expected.add(ticket, allocation))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(what);
        assertThat(expected.all()).isEmpty();
    }

    @Test
    void a_worker_of_each_slot_of_the_tickets_allocation_is_expected() throws Exception {
        expected.add(ticket, assigned);
        assertThat(expected.all())
                .containsOnlyKeys(
                        WorkerName.of(ticket.id(), 0, ticket.project()),
                        WorkerName.of(ticket.id(), 1, ticket.project()));
    }

    @Test
    void an_allocation_for_another_payload_of_the_same_id_is_refused() {
        Digest digest = Digest.sha256(new byte[] {1});
        refused(of(assigned, assigned.project(), assigned.ticket(), digest, assigned.slots()), digest.toString());
    }

    @Test
    void an_allocation_of_another_ticket_is_refused() {
        refused(of(assigned, assigned.project(), OTHER, assigned.digest(), assigned.slots()), OTHER);
    }

    @Test
    void an_allocation_of_another_project_is_refused() {
        refused(
                of(assigned, "a".repeat(52), assigned.ticket(), assigned.digest(), assigned.slots()),
                "want that of ticket");
    }

    @Test
    void an_allocation_with_fewer_slots_or_more_than_were_asked_for_is_refused() throws Exception {
        refused(
                of(
                        assigned,
                        assigned.project(),
                        assigned.ticket(),
                        assigned.digest(),
                        assigned.slots().subList(0, 1)),
                "want 2 slots, have 1");
        Ticket smaller = new ReceiptFixture(1).ticket;
        assertThatThrownBy(() -> expected.add(
                        smaller,
                        of(
                                assigned,
                                smaller.project(),
                                smaller.id(),
                                Digest.sha256(smaller.payload()),
                                assigned.slots())))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("want 1 slots, have 2");
        assertThat(expected.all()).isEmpty();
    }

    @Test
    void the_first_allocation_of_a_ticket_stays_its_only_one() throws Exception {
        expected.add(ticket, assigned);
        expected.add(
                ticket,
                of(
                        assigned,
                        assigned.project(),
                        assigned.ticket(),
                        assigned.digest(),
                        new ReceiptFixture(2).allocation.slots()));
        assertThat(expected.all().values())
                .allSatisfy(place -> assertThat(place.allocation()).isSameAs(assigned));
        assertThat(expected.find(WorkerName.of(ticket.id(), 0, ticket.project())))
                .hasValueSatisfying(place -> assertThat(place.slot().key())
                        .isEqualTo(assigned.slots().get(0).key()));
    }
}
