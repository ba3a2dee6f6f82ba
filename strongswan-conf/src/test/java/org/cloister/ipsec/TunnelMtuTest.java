package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TunnelMtuTest {
    @Test
    void of_ethernet_and_of_a_vxlan_trunk() {
        assertThat(new TunnelMtu(1450, EspMode.USERSPACE).inner()).isEqualTo(1386);
        assertThat(new TunnelMtu(1500, EspMode.KERNEL).inner()).isEqualTo(1466);
        assertThat(new TunnelMtu(1400, EspMode.USERSPACE).inner()).isEqualTo(1338);
        assertThat(new TunnelMtu(1400, EspMode.USERSPACE).segment()).isEqualTo(1298);
    }

    @ParameterizedTest
    @EnumSource
    void the_largest_packet_fits_and_one_byte_more_does_not(EspMode by) {
        for (int link = 576; link <= 9_000; link++) {
            TunnelMtu mtu = new TunnelMtu(link, by);
            assertThat(mtu.outer(mtu.inner())).isLessThanOrEqualTo(link);
            if (by == EspMode.KERNEL || link < 1_464) {
                assertThat(mtu.outer(mtu.inner() + 1)).isGreaterThan(link);
            } else {
                assertThat(mtu.inner()).as("no larger packet is read").isEqualTo(1_400);
            }
        }
    }

    @Test
    void refuses_links_that_carry_no_ip() {
        assertThatThrownBy(() -> new TunnelMtu(575, EspMode.KERNEL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new TunnelMtu(65_536, EspMode.KERNEL)).isInstanceOf(IllegalArgumentException.class);
    }
}
