package org.cloister.base.connection;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.cloister.base.connection.ReconnectPolicy.Action.CONNECT;
import static org.cloister.base.connection.ReconnectPolicy.Action.DISCONNECT;
import static org.cloister.base.connection.ReconnectPolicy.Action.NONE;
import static org.cloister.base.connection.ReconnectPolicy.Action.PROBE;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class ReconnectPolicyTest {
    private static final long S = 1_000_000_000L;

    private final ReconnectPolicy policy =
            new ReconnectPolicy(ofSeconds(1), ofSeconds(4), ofSeconds(3), Optional.of(ofSeconds(5)), 0);

    @Test
    void probes_a_silent_peer_once_then_gives_it_up_and_tries_again() {
        assertThat(policy.run(0)).isEqualTo(CONNECT);
        policy.onConnected(0);
        assertThat(policy.run(4 * S)).isEqualTo(NONE);
        assertThat(policy.run(5 * S)).isEqualTo(PROBE);
        assertThat(policy.run(9 * S)).isEqualTo(NONE);
        assertThat(policy.run(10 * S)).isEqualTo(DISCONNECT);
        assertThat(policy.run(10 * S + S / 2)).isEqualTo(NONE);
        assertThat(policy.run(11 * S)).isEqualTo(CONNECT);
    }

    @Test
    void an_answer_to_the_probe_keeps_the_connection() {
        policy.run(0);
        policy.onConnected(0);
        assertThat(policy.run(5 * S)).isEqualTo(PROBE);
        policy.onBytes(6 * S);
        assertThat(policy.run(10 * S)).isEqualTo(NONE);
        assertThat(policy.run(11 * S)).isEqualTo(PROBE);
    }

    @Test
    void backs_off_to_its_maximum_and_starts_over_once_it_was_of_use() {
        long now = 0;
        for (long pause : new long[] {1, 2, 4, 4}) {
            assertThat(policy.run(now)).isEqualTo(CONNECT);
            policy.onDisconnected(now);
            assertThat(policy.untilDue(now)).hasValue(pause * S);
            assertThat(policy.run(now + pause * S - 1)).isEqualTo(NONE);
            now += pause * S;
        }
        policy.run(now);
        policy.onConnected(now);
        policy.onUseful();
        policy.onDisconnected(now);
        assertThat(policy.untilDue(now)).hasValue(S);
    }

    @Test
    void a_connection_that_is_never_made_is_given_up() {
        policy.run(0);
        assertThat(policy.run(3 * S - 1)).isEqualTo(NONE);
        assertThat(policy.run(3 * S)).isEqualTo(DISCONNECT);
        assertThat(policy.run(4 * S)).isEqualTo(CONNECT);
    }

    @Test
    void a_loss_counts_once() {
        policy.run(0);
        policy.onDisconnected(0);
        policy.onDisconnected(S / 2);
        assertThat(policy.untilDue(S / 2)).hasValue(S / 2);
    }

    @Test
    void without_probes_a_silent_connection_stays() {
        ReconnectPolicy silent = new ReconnectPolicy(ofSeconds(1), ofSeconds(4), ofSeconds(3), Optional.empty(), 0);
        assertThat(silent.run(0)).isEqualTo(CONNECT);
        silent.onConnected(0);
        assertThat(silent.untilDue(0)).isEmpty();
        assertThat(silent.run(1000 * S)).isEqualTo(NONE);
        silent.onDisconnected(1000 * S);
        assertThat(silent.untilDue(1000 * S)).hasValue(S);
    }

    @Test
    void refuses_pauses_that_make_no_sense() {
        for (int[] pair : new int[][] {{0, 1}, {-1, 1}, {2, 1}}) {
            assertThatThrownBy(() -> new ReconnectPolicy(
                            ofSeconds(pair[0]), ofSeconds(pair[1]), ofSeconds(1), Optional.empty(), 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
