package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MtuTest {
    @Test
    void an_ordinary_uplink_leaves_what_one_esp_packet_holds() {
        assertThat(Mtu.of(1500, false, Mtu.Esp.TRANSPORT)).isEqualTo(new Mtu(1500, 1466));
        assertThat(Mtu.of(1500, true, Mtu.Esp.TUNNEL)).isEqualTo(new Mtu(1496, 1442));
        assertThat(Mtu.of(1500, true, Mtu.Esp.TUNNEL_IN_UDP)).isEqualTo(new Mtu(1496, 1434));
    }

    @Test
    void both_ends_of_the_range_are_kept() {
        assertThat(Mtu.of(576, false, Mtu.Esp.TUNNEL).port()).isEqualTo(576);
        assertThat(Mtu.of(9216, false, Mtu.Esp.TUNNEL).port()).isEqualTo(9216);
        assertThatThrownBy(() -> Mtu.of(575, false, Mtu.Esp.TUNNEL)).hasMessageContaining("want 576 to 9216, have 575");
        assertThatThrownBy(() -> Mtu.of(9217, false, Mtu.Esp.TUNNEL)).hasMessageContaining("have 9217");
    }
}
