package org.cloister.ovs.io;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.ovs.io.OvsReconnect.Action.CONNECT;
import static org.cloister.ovs.io.OvsReconnect.Action.DISCONNECT;
import static org.cloister.ovs.io.OvsReconnect.Action.NONE;
import static org.cloister.ovs.io.OvsReconnect.Action.PROBE;

import org.junit.jupiter.api.Test;

class OvsReconnectTest {
    private static final long S = 1_000_000_000L;

    private final OvsReconnect fsm = new OvsReconnect(ofSeconds(1), ofSeconds(4), ofSeconds(5), 0);

    @Test
    void probes_a_silent_peer_once_then_gives_it_up_and_tries_again() {
        assertThat(fsm.run(0)).isEqualTo(CONNECT);
        fsm.onConnected(0);
        assertThat(fsm.run(4 * S)).isEqualTo(NONE);
        assertThat(fsm.run(5 * S)).isEqualTo(PROBE);
        assertThat(fsm.run(9 * S)).isEqualTo(NONE);
        assertThat(fsm.run(10 * S)).isEqualTo(DISCONNECT);
        assertThat(fsm.run(10 * S + S / 2)).isEqualTo(NONE);
        assertThat(fsm.run(11 * S)).isEqualTo(CONNECT);
    }

    @Test
    void an_answer_to_the_probe_keeps_the_connection() {
        fsm.run(0);
        fsm.onConnected(0);
        assertThat(fsm.run(5 * S)).isEqualTo(PROBE);
        fsm.onBytes(6 * S);
        assertThat(fsm.run(10 * S)).isEqualTo(NONE);
        assertThat(fsm.run(11 * S)).isEqualTo(PROBE);
    }

    @Test
    void backs_off_to_its_maximum_and_starts_over_once_it_was_of_use() {
        long now = 0;
        for (long pause : new long[] {1, 2, 4, 4}) {
            assertThat(fsm.run(now)).isEqualTo(CONNECT);
            fsm.onDisconnected(now);
            assertThat(fsm.deadline()).isEqualTo(now + pause * S);
            now = fsm.deadline();
        }
        fsm.run(now);
        fsm.onConnected(now);
        fsm.onUseful();
        fsm.onDisconnected(now);
        assertThat(fsm.deadline()).isEqualTo(now + S);
    }

    @Test
    void a_connection_that_is_never_made_is_given_up() {
        fsm.run(0);
        assertThat(fsm.run(5 * S)).isEqualTo(DISCONNECT);
    }
}
