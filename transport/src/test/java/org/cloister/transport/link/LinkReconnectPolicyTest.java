package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.transport.link.LinkReconnectPolicy.Action.ABANDON;
import static org.cloister.transport.link.LinkReconnectPolicy.Action.DIAL;
import static org.cloister.transport.link.LinkReconnectPolicy.Action.NONE;

import java.time.Duration;
import org.cloister.protocol.link.ReconnectDelay;
import org.junit.jupiter.api.Test;

class LinkReconnectPolicyTest {
    private static final long MS = 1_000_000L;
    private static final ReconnectDelay DELAY = new ReconnectDelay(Duration.ofSeconds(2), Duration.ofSeconds(8));

    private final LinkReconnectPolicy fsm = new LinkReconnectPolicy(LinkReconnectPolicy.Settings.LINK, 0);

    @Test
    void waits_as_the_relay_said_after_a_loss() {
        assertThat(fsm.run(0)).isEqualTo(DIAL);
        fsm.onAttached(DELAY);
        assertThat(fsm.run(1_000_000 * MS)).isEqualTo(NONE);
        fsm.onLost(0, 0.25);
        assertThat(fsm.deadlineNs()).isEqualTo(4000 * MS);
        assertThat(fsm.run(3999 * MS)).isEqualTo(NONE);
        assertThat(fsm.run(4000 * MS)).isEqualTo(DIAL);
    }

    @Test
    void doubles_the_wait_with_each_failure_up_to_a_minute_and_spreads_half_of_it() {
        long now = 0;
        for (long leastMs : new long[] {1000, 2000, 4000, 8000, 16_000, 30_000, 30_000}) {
            assertThat(fsm.run(now)).isEqualTo(DIAL);
            fsm.onLost(now, 0);
            assertThat(fsm.deadlineNs() - now).isEqualTo(leastMs * MS);
            now = fsm.deadlineNs();
        }
    }

    @Test
    void gives_up_an_attempt_that_is_not_attached_in_time() {
        fsm.run(0);
        assertThat(fsm.run(19_999 * MS)).isEqualTo(NONE);
        assertThat(fsm.run(20_000 * MS)).isEqualTo(ABANDON);
        fsm.onLost(20_000 * MS, 0.5);
        assertThat(fsm.run(20_000 * MS)).isEqualTo(NONE);
    }

    @Test
    void a_relay_that_drains_says_when_to_come_back() {
        fsm.run(0);
        fsm.onAttached(ReconnectDelay.DEFAULT);
        fsm.onDrain(DELAY, 100 * MS, 0);
        assertThat(fsm.deadlineNs()).isEqualTo(2100 * MS);
    }

    @Test
    void no_relay_sends_its_agents_away_for_more_than_two_minutes() {
        ReconnectDelay delay = ReconnectDelay.of(org.cloister.protocol.link.wire.Pace.newBuilder()
                .setAtLeastMs(-1)
                .setSpreadMs(Integer.MAX_VALUE)
                .build());
        fsm.run(0);
        fsm.onAttached(delay);
        fsm.onLost(0, 0.999_999);
        assertThat(fsm.deadlineNs()).isLessThanOrEqualTo(Duration.ofMinutes(2).toNanos());
    }
}
