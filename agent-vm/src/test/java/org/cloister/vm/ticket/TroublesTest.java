package org.cloister.vm.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.junit.jupiter.api.Test;

class TroublesTest {
    private static final String ID = "b".repeat(26);

    @Test
    void every_clause_and_every_end_has_a_text_for_the_jobs_owner() {
        for (TicketClause clause : TicketClause.values()) {
            assertThat(Troubles.of(new OfficeMessage.Refused(ID, clause, "")).text())
                    .isNotBlank();
        }
        for (TicketEnd end : TicketEnd.values()) {
            assertThat(Troubles.of(end, false, true).text()).isNotBlank();
            assertThat(Troubles.of(end, false, false).phase()).isEqualTo(Phase.QUEUE);
        }
        assertThat(Troubles.of(TicketEnd.TIMEOUT, true, true)).isNotEqualTo(Trouble.NONE);
    }
}
