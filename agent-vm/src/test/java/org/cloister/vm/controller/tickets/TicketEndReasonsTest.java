package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.junit.jupiter.api.Test;

class TicketEndReasonsTest {
    private static final String ID = "b".repeat(26);

    @Test
    void every_clause_and_every_end_has_a_text_for_the_jobs_owner() {
        for (TicketClause clause : TicketClause.values()) {
            assertThat(TicketEndReasons.of(new RelayTicketMessage.Refused(ID, clause, ""))
                            .text())
                    .isNotBlank();
        }
        for (TicketEnd end : TicketEnd.values()) {
            assertThat(TicketEndReasons.of(end, false, true).text()).isNotBlank();
            assertThat(TicketEndReasons.of(end, false, false).phase()).isEqualTo(WorkerPhase.QUEUE);
        }
        assertThat(TicketEndReasons.of(TicketEnd.TIMEOUT, true, true)).isNotEqualTo(EndReason.NONE);
    }
}
