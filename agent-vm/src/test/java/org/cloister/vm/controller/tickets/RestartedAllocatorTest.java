package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.Test;

/** Tests an allocator with the tickets of an earlier process, of an earlier boot, and with those that have expired. */
class RestartedAllocatorTest extends SiteWorkerAllocatorFixture {
    @Test
    void after_a_kill_the_same_ticket_is_said_and_the_next_has_the_next_place() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        settle();
        SigningKey before = key;
        Ticket first = ordered(sent.get(0));
        kill();
        start(1);
        workers.resumeTicket(ID);
        open();
        workers.submitTicket("c".repeat(26), REQUEST);
        settle();
        assertThat(before).isNotEqualTo(key);
        assertThat(ordered(sent.get(0))).isEqualTo(first);
        assertThat(ordered(sent.get(1)).sequence()).isEqualTo(2);
    }

    @Test
    void after_a_boot_the_relay_is_asked_first_and_gets_it_signed_anew_if_it_never_had_it() throws Exception {
        workers.submitTicket(ID, REQUEST);
        kill();
        start(2);
        open();
        settle();
        assertThat(sent).containsExactly(new AgentTicketMessage.QueryTicket(ID));
        refuses(TicketClause.PROJECT);
        settle();
        Ticket anew = ordered(sent.get(1));
        assertThat(anew.id()).isEqualTo(ID);
        assertThat(anew.epoch()).isEqualTo(2);
        assertThat(anew.sequence()).isEqualTo(1);
        assertThat(ReceivedTicket.read(sent.get(1), key).controllerEpoch()).isEqualTo(2);
        assertThat(events).isEmpty();
    }

    @Test
    void after_a_boot_a_ticket_that_the_relay_has_goes_on_and_is_signed_again_as_it_is_once_a_stream()
            throws Exception {
        workers.submitTicket(ID, REQUEST);
        open();
        settle();
        Ticket before = ordered(sent.get(0));
        kill();
        start(2);
        for (int stream = 0; stream < 2; stream++) {
            sent.clear();
            open();
            workers.onMessage(update(TicketState.RUNNING, "2"));
            workers.onMessage(update(TicketState.RUNNING, "2"));
            settle();
            assertThat(sent).hasSize(2).startsWith(new AgentTicketMessage.QueryTicket(ID));
            assertThat(ordered(sent.get(1)))
                    .as("the same, by the key of this boot")
                    .isEqualTo(before);
            assertThat(ReceivedTicket.read(sent.get(1), key).controllerEpoch())
                    .as("and in its word")
                    .isEqualTo(2);
        }
        assertThat(events).contains(new WorkerEvent.Allocated(ID, 2));
    }

    @Test
    void after_a_boot_what_leaves_is_not_asked_for_by_anybody() throws Exception {
        workers.submitTicket(ID, REQUEST);
        open();
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.releaseTicket(ID);
        kill();
        start(2);
        open();
        workers.onMessage(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(sent).containsExactly(new AgentTicketMessage.QueryTicket(ID));
    }

    @Test
    void a_ticket_that_grew_old_without_a_relay_is_signed_anew() throws Exception {
        workers.submitTicket(ID, REQUEST);
        settle();
        now = now.plus(Ticket.LONGEST);
        open();
        settle();
        assertThat(sent).containsExactly(new AgentTicketMessage.QueryTicket(ID));
        refuses(TicketClause.PROJECT);
        settle();
        Ticket anew = ordered(sent.get(1));
        assertThat(anew.issued()).isEqualTo(now);
        assertThat(anew.request().memoryMib()).isEqualTo(MEMORY_MIB);
        assertThat(anew.request().scratchMib()).isEqualTo(SCRATCH_MIB);
    }

    @Test
    void a_stale_ticket_that_is_repeated_on_one_stream_is_asked_about_once_and_stays_in_force() throws Exception {
        workers.submitTicket(ID, REQUEST);
        kill();
        start(2);
        open();
        workers.resumeTicket(ID);
        workers.submitTicket(ID, REQUEST);
        settle();
        long queries = sent.size();
        // As a relay answers: each query by a refusal.
        for (long query = 0; query < queries; query++) {
            refuses(TicketClause.PROJECT);
        }
        workers.onMessage(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(sent).hasSize(2).first().isEqualTo(new AgentTicketMessage.QueryTicket(ID));
        assertThat(ordered(sent.get(1)).epoch()).isEqualTo(2);
        assertThat(events).contains(new WorkerEvent.Allocated(ID, 2));
    }

    @Test
    void a_stale_ticket_is_asked_about_again_on_the_next_stream() throws Exception {
        workers.submitTicket(ID, REQUEST);
        kill();
        start(2);
        open();
        workers.onClosed("the connection is lost");
        workers.resumeTicket(ID);
        open();
        settle();
        assertThat(sent)
                .containsExactly(new AgentTicketMessage.QueryTicket(ID), new AgentTicketMessage.QueryTicket(ID));
    }

    @Test
    void a_book_of_a_later_epoch_or_with_a_strange_file_is_not_taken() throws Exception {
        workers.submitTicket(ID, REQUEST);
        kill();
        start(2);
        workers.submitTicket("c".repeat(26), REQUEST);
        settle();
        Path tickets = folder.resolve("tickets");
        assertThatThrownBy(() -> TicketFolder.open(tickets, 1)).hasMessageContaining("have those of 2");
        Files.copy(tickets.resolve(ID + ".ticket"), tickets.resolve("d".repeat(26) + ".ticket"));
        assertThatThrownBy(() -> TicketFolder.open(tickets, 2))
                .hasMessageContaining("want the file's name, have " + ID);
    }

    @Test
    void a_release_outlives_a_kill() throws Exception {
        open();
        workers.submitTicket(ID, REQUEST);
        workers.onMessage(update(TicketState.RUNNING, "2"));
        workers.releaseTicket(ID);
        kill();
        start(1);
        open();
        workers.onMessage(update(TicketState.RUNNING, "2"));
        settle();
        assertThat(slots.recorded).containsExactly("expect " + ID, "release " + ID);
    }
}
