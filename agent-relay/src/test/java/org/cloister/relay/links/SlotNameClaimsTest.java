package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.relay.tickets.TestTicketAgent;
import org.cloister.relay.tickets.TicketFixture;
import org.cloister.transport.link.AgentAttachStream;
import org.junit.jupiter.api.Test;

/** Claims of workers' names, which follow from a ticket's id, at a relay that knows which host has the slot. */
class SlotNameClaimsTest extends TicketFixture {
    @Test
    void a_workers_name_is_the_hosts_that_claimed_its_slot_and_is_taken_from_any_other() throws Exception {
        Ticket ticket = vm.ticket(TestTicketAgent.nodes(1));
        vm.order(ticket);
        vm.awaitState(ticket.id(), TicketState.RUNNING);
        CertificateName worker = WorkerName.of(ticket.id(), 0, fixture.site.a.id());
        try (TestAgent other = new TestAgent(fixture, fixture.credential(RelayFixture.OTHER_HOST))) {
            AgentAttachStream elsewhere = other.attachment();
            assertThat(serves(other, elsewhere, worker))
                    .as("no host has claimed the slot")
                    .isEmpty();
            claim(ticket);
            assertThat(serves(host, hostAttachment, worker)).isEmpty();
            assertThat(other.served.poll(20, TimeUnit.SECONDS)).as("displaced").contains(CloseReason.CLAIMED);
            assertThat(serves(other, elsewhere, worker)).contains(CloseReason.CLAIMED);
        }
        restart();
        try (TestAgent other = new TestAgent(fixture, fixture.credential(RelayFixture.OTHER_HOST))) {
            AgentAttachStream elsewhere = other.attachment();
            assertThat(serves(other, elsewhere, worker)).as("after a restart").contains(CloseReason.CLAIMED);
            slurm.endJob(job(ticket.id()), GlobalJobState.COMPLETED);
            assertThat(vm.awaitState(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
            await(() -> serves(other, elsewhere, worker).isEmpty());
        }
    }

    private Optional<CloseReason> serves(TestAgent agent, AgentAttachStream attachment, CertificateName worker)
            throws Exception {
        return agent.serve(
                attachment,
                worker,
                fixture.credential(worker),
                CircuitRecorder.keeping().application());
    }

    private void claim(Ticket ticket) throws Exception {
        TestTicketAgent claimer = TestTicketAgent.of(hostLink, RelayFixture.HOST, hostOwn);
        claimer.send(new AgentTicketMessage.Claim(ticket.id(), job(ticket.id())));
        claimer.next(RelayTicketMessage.Claimed.class);
        claimer.close();
    }
}
