package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class NetworkMtuTest {
    @Test
    void an_ordinary_uplink_leaves_what_one_esp_packet_holds() {
        assertThat(NetworkMtu.of(1500, false, NetworkMtu.Esp.TRANSPORT)).isEqualTo(new NetworkMtu(1500, 1466));
        assertThat(NetworkMtu.of(1500, true, NetworkMtu.Esp.TUNNEL)).isEqualTo(new NetworkMtu(1496, 1442));
        assertThat(NetworkMtu.of(1500, true, NetworkMtu.Esp.TUNNEL_IN_UDP)).isEqualTo(new NetworkMtu(1496, 1434));
    }

    @Test
    void both_ends_of_the_range_are_kept() {
        assertThat(NetworkMtu.of(576, false, NetworkMtu.Esp.TUNNEL).port()).isEqualTo(576);
        assertThat(NetworkMtu.of(9216, false, NetworkMtu.Esp.TUNNEL).port()).isEqualTo(9216);
        assertThatThrownBy(() -> NetworkMtu.of(575, false, NetworkMtu.Esp.TUNNEL))
                .hasMessageContaining("want 576 to 9216, have 575");
        assertThatThrownBy(() -> NetworkMtu.of(9217, false, NetworkMtu.Esp.TUNNEL))
                .hasMessageContaining("have 9217");
    }
}
