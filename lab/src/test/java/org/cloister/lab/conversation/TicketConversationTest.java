package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.cloister.lab.SampledScenario;
import org.cloister.transport.link.RecordCuttingProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A ticket's life between a controlling VM, its host and the relay, whose link is cut in front of each record once: each thing
 * happens once, and all three know it.
 */
@Timeout(600)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class TicketConversationTest {
    @TempDir
    private Path folder;

    private TicketConversation ends;
    private TicketScenarios scenarios;

    @BeforeEach
    void setUp() throws Exception {
        ends = new TicketConversation(folder);
        scenarios = new TicketScenarios(ends);
        scenarios.await(ends::isWhole);
    }

    @AfterEach
    void tearDown() throws Exception {
        ends.close();
    }

    @Test
    void a_ticket_lives_from_order_to_end_with_all_three_as_they_are() throws Exception {
        scenarios.live("a sound wire");
    }

    @Test
    @Tag("scenario")
    @Tag("boundary")
    @SampledScenario(value = 2, cases = 3)
    void wherever_the_link_is_cut_each_thing_happens_once() throws Exception {
        TicketScenario whole = scenarios::live;
        TicketScenario withdrawn = scenarios::withdrawn;
        for (TicketScenario scenario : List.of(whole, withdrawn)) {
            scenarios.await(ends::isWhole);
            ends.wire.count();
            scenario.live("a sound wire");
            int fromAgent = ends.wire.records(RecordCuttingProxy.From.AGENT);
            int fromRelay = ends.wire.records(RecordCuttingProxy.From.RELAY);
            assertThat(fromAgent).as("an order and what ends it").isGreaterThanOrEqualTo(2);
            int cuts = 0;
            for (RecordCuttingProxy.From from : RecordCuttingProxy.From.values()) {
                int records = from == RecordCuttingProxy.From.AGENT ? fromAgent : fromRelay;
                for (int record = 0; record < records; record++) {
                    scenarios.await(ends::isWhole);
                    ends.wire.arm(from, record);
                    scenario.live("record " + record + " of " + records + " of " + from);
                    cuts += ends.wire.hasCut() ? 1 : 0;
                }
            }
            // Records that come one by one in a sound life may come as one in another.
            assertThat(cuts).as("links that were cut").isGreaterThanOrEqualTo(fromAgent + fromRelay / 2);
        }
    }

    private interface TicketScenario {
        void live(String as) throws Exception;
    }
}
