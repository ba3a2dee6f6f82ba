package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.slurm.JobState;
import org.junit.jupiter.api.Test;

/** Claims of workers' names, which follow from a ticket's id, at a relay that knows which host has the slot. */
class SlotNamesTest extends TicketStage {
    @Test
    void a_workers_name_is_the_hosts_that_claimed_its_slot_and_is_taken_from_any_other() throws Exception {
        Ticket ticket = vm.ticket(TicketParty.nodes(1));
        vm.order(ticket);
        vm.until(ticket.id(), TicketState.RUNNING);
        Name worker = SlotName.of(ticket.id(), 0, cast.site.a.id());
        try (Agent other = new Agent(cast, cast.credential(Cast.OTHER_HOST))) {
            Attachment elsewhere = other.attachment();
            assertThat(serves(other, elsewhere, worker))
                    .as("no host has claimed the slot")
                    .isEmpty();
            claim(ticket);
            assertThat(serves(host, hostAttachment, worker)).isEmpty();
            assertThat(other.served.poll(20, TimeUnit.SECONDS)).as("displaced").contains(CloseReason.CLAIMED);
            assertThat(serves(other, elsewhere, worker)).contains(CloseReason.CLAIMED);
        }
        restart();
        try (Agent other = new Agent(cast, cast.credential(Cast.OTHER_HOST))) {
            Attachment elsewhere = other.attachment();
            assertThat(serves(other, elsewhere, worker)).as("after a restart").contains(CloseReason.CLAIMED);
            slurm.end(job(ticket.id()), JobState.COMPLETED);
            assertThat(vm.until(ticket.id(), TicketState.ENDED).end()).contains(TicketEnd.COMPLETED);
            await(() -> serves(other, elsewhere, worker).isEmpty());
        }
    }

    private Optional<CloseReason> serves(Agent agent, Attachment attachment, Name worker) throws Exception {
        return agent.serve(
                attachment, worker, cast.credential(worker), Tap.keeping().application());
    }

    private void claim(Ticket ticket) throws Exception {
        TicketParty claimer = TicketParty.of(hostLink, Cast.HOST, hostOwn);
        claimer.say(new PartyMessage.Claim(ticket.id(), job(ticket.id())));
        claimer.next(OfficeMessage.Claimed.class);
        claimer.close();
    }
}
