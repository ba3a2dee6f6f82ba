package org.cloister.ipsec.vici;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ViciReconnectTest {
    private static final long MS = 1_000_000L;

    private final ViciReconnect fsm = new ViciReconnect(ofMillis(10), ofMillis(40), ofMillis(100), 0);

    @Test
    void pauses_longer_up_to_its_maximum_and_starts_over_once_it_was_of_use() {
        long now = 0;
        for (long pause : new long[] {10, 20, 40, 40}) {
            assertThat(fsm.due(now)).isTrue();
            assertThat(fsm.due(now)).isFalse();
            fsm.onLost(now);
            assertThat(fsm.untilDue(now)).isEqualTo(pause * MS);
            assertThat(fsm.due(now + pause * MS - 1)).isFalse();
            now += pause * MS;
        }
        assertThat(fsm.due(now)).isTrue();
        fsm.onUseful();
        assertThat(fsm.untilDue(now)).isNegative();
        fsm.onLost(now);
        assertThat(fsm.untilDue(now)).isEqualTo(10 * MS);
    }

    @Test
    void an_attempt_that_takes_too_long_is_a_failed_one() {
        assertThat(fsm.due(0)).isTrue();
        assertThat(fsm.untilDue(0)).isEqualTo(100 * MS);
        assertThat(fsm.due(100 * MS)).isFalse();
        assertThat(fsm.due(110 * MS)).isTrue();
    }

    @Test
    void is_told_of_a_loss_once_and_connects_no_more_when_closed() {
        assertThat(fsm.due(0)).isTrue();
        fsm.onLost(0);
        fsm.onLost(5 * MS);
        assertThat(fsm.untilDue(5 * MS)).isEqualTo(5 * MS);
        fsm.onClose();
        assertThat(fsm.due(1000 * MS)).isFalse();
        assertThat(fsm.untilDue(1000 * MS)).isNegative();
    }

    @Test
    void refuses_pauses_that_make_no_sense() {
        assertThatThrownBy(() -> new ViciReconnect(ofMillis(0), ofMillis(1), ofMillis(1), 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ViciReconnect(ofMillis(2), ofMillis(1), ofMillis(1), 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
