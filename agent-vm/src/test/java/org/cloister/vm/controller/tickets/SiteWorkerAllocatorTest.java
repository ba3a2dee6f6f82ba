package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.HostFaultCode;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.junit.jupiter.api.Test;

/** Tests what is sent to the relay and reported to the queue, whatever is lost or late on the way. */
class SiteWorkerAllocatorTest extends SiteWorkerAllocatorFixture {
    @Test
    void a_ticket_goes_from_its_order_to_nodes_and_a_good_end() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        settle();
        Ticket ticket = ordered(sent.get(0));
        assertThat(ticket.request()).isEqualTo(REQUEST.withMemory(MEMORY_MIB).withScratch(SCRATCH_MIB));
        assertThat(ticket.epoch()).isEqualTo(1);
        workers.onMessage(update(TicketState.QUEUED, ""));
        now = now.plusSeconds(3);
        workers.onMessage(update(TicketState.RUNNING, ""));
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.onWorkerEvent(new WorkerEvent.NodeReady(ID, 1, "n2"));
        workers.releaseTicket(ID);
        workers.onWorkerEvent(new WorkerEvent.NodeGone(ID, 1, EndReason.NONE));
        ends(TicketEnd.COMPLETED);
        workers.resumeTicket(ID);
        settle();
        assertThat(events)
                .containsExactly(
                        new WorkerEvent.Allocated(ID, 2),
                        new WorkerEvent.Passed(ID, 0, WorkerPhase.QUEUE, Duration.ofSeconds(3)),
                        new WorkerEvent.Passed(ID, 1, WorkerPhase.QUEUE, Duration.ofSeconds(3)),
                        new WorkerEvent.NodeReady(ID, 1, "n2"),
                        new WorkerEvent.Ended(ID, EndReason.NONE),
                        new WorkerEvent.Ended(ID, EndReason.NONE));
        assertThat(slots.recorded).containsExactly("expect " + ID, "release " + ID, "forget " + ID);
        assertThat(recorder.recorded)
                .containsExactly("ordered " + ID, "queued " + ID, "running " + ID, "running " + ID, "ended " + ID);
        try (var files = Files.list(folder.resolve("tickets"))) {
            assertThat(files).extracting(Path::getFileName).containsExactly(Path.of("position"));
        }
    }

    @Test
    void what_was_asked_without_a_relay_is_said_to_the_first_and_again_until_it_is_known() throws Exception {
        workers.submitTicket(ID, REQUEST);
        workers.submitTicket(ID, REQUEST);
        settle();
        assertThat(sent).isEmpty();
        open();
        settle();
        Ticket first = ordered(sent.get(0));
        workers.onClosed("the connection is lost");
        open();
        settle();
        assertThat(ordered(sent.get(1))).isEqualTo(first);
        workers.onMessage(update(TicketState.ACCEPTED, ""));
        workers.onClosed("the connection is lost");
        open();
        settle();
        assertThat(sent).hasSize(3).last().isEqualTo(new AgentTicketMessage.QueryTicket(ID));
    }

    @Test
    void a_hosts_fault_is_the_end_of_its_slot_with_host_phase_and_remedy() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.onMessage(new RelayTicketMessage.HostFault(ID, 1, HostFaultCode.HOST, "scratch", "h1"));
        workers.onMessage(new RelayTicketMessage.HostFault("d".repeat(26), 1, HostFaultCode.HOST, "scratch", "h1"));
        settle();
        assertThat(events)
                .filteredOn(WorkerEvent.NodeGone.class::isInstance)
                .singleElement()
                .isEqualTo(new WorkerEvent.NodeGone(
                        ID,
                        1,
                        new EndReason(
                                WorkerPhase.BOOT,
                                "host",
                                "host h1: it could not run the job's VM (phase scratch)",
                                "the site's administrators see why in agent-host's log on host h1",
                                true)));
    }

    @Test
    void a_refusal_says_why_and_whether_waiting_helps() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        refuses(TicketClause.QUOTA);
        settle();
        assertThat(events).hasSize(1);
        EndReason trouble = ((WorkerEvent.Refused) events.get(0)).reason();
        assertThat(trouble.code()).isEqualTo("quota");
        assertThat(trouble.retryable()).isTrue();
        assertThat(trouble.text()).doesNotContain(ID);
        workers.resumeTicket(ID);
        settle();
        assertThat(events.get(1)).isEqualTo(new WorkerEvent.Ended(ID, EndReason.NONE));
    }

    @Test
    void vms_that_do_not_end_after_their_release_are_ended_by_the_site() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.releaseTicket(ID);
        settle();
        assertThat(sent).hasSize(1);
        Thread.sleep(2 * TIMEOUT.toMillis());
        settle();
        assertThat(sent).hasSize(2).last().isInstanceOf(AgentTicketMessage.Withdraw.class);
        ends(TicketEnd.WITHDRAWN);
        settle();
        assertThat(events).last().isEqualTo(new WorkerEvent.Ended(ID, EndReason.NONE));
    }

    @Test
    void what_nobody_needs_is_taken_back_and_again_until_the_relay_says_that_it_ended() throws Exception {
        workers.withdrawTicket(ID);
        settle();
        assertThat(events).containsExactly(new WorkerEvent.Ended(ID, EndReason.NONE));
        events.clear();
        open();
        workers.submitTicket(ID, REQUEST);
        workers.withdrawTicket(ID);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.onWorkerEvent(new WorkerEvent.NodeReady(ID, 0, "n1"));
        workers.onClosed("the connection is lost");
        open();
        settle();
        assertThat(sent).hasSize(3);
        assertThat(sent.subList(1, 3)).allMatch(AgentTicketMessage.Withdraw.class::isInstance);
        assertThat(events).isEmpty();
        // A relay that never had it knows nothing of it: that is its end too.
        refuses(TicketClause.PROJECT);
        settle();
        assertThat(events).containsExactly(new WorkerEvent.Ended(ID, EndReason.NONE));
    }

    @Test
    void of_a_ticket_that_has_ended_the_relay_is_asked_for_parts_until_nobody_waits_for_any() throws Exception {
        String other = "d".repeat(26);
        recorder.waits.add(other);
        open();
        settle();
        assertThat(sent).containsExactly(new AgentTicketMessage.QueryTicket(other));
        workers.onMessage(new RelayTicketMessage.ForwardedStatement(other, 1, ByteString.EMPTY, List.of()));
        workers.onMessage(new RelayTicketMessage.Refused(other, TicketClause.PROJECT, "text"));
        settle();
        assertThat(recorder.recorded).containsExactly("part " + other + " 1", "forgotten " + other);
        assertThat(events).isEmpty();
    }

    @Test
    void a_ticket_that_no_relay_took_has_no_receipt() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        refuses(TicketClause.LIMIT);
        settle();
        assertThat(recorder.recorded).containsExactly("ordered " + ID, "dropped " + ID);
    }

    @Test
    void an_allocation_that_is_not_the_tickets_is_taken_back() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "another's"));
        settle();
        assertThat(sent).last().isInstanceOf(AgentTicketMessage.Withdraw.class);
        assertThat(events).isEmpty();
    }

    @Test
    void a_ticket_that_the_site_ends_says_how() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        ends(TicketEnd.NODE_FAILED);
        settle();
        EndReason trouble = ((WorkerEvent.Ended) events.get(events.size() - 1)).reason();
        assertThat(trouble.code()).isEqualTo("node-failed");
        assertThat(trouble.phase()).isEqualTo(WorkerPhase.REGISTRATION);
    }
}
