package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MtuTest {
    @Test
    void of_ethernet_and_of_a_vxlan_trunk() {
        assertThat(new Mtu(1450, Esp.USERSPACE).inner()).isEqualTo(1386);
        assertThat(new Mtu(1500, Esp.KERNEL).inner()).isEqualTo(1466);
        assertThat(new Mtu(1400, Esp.USERSPACE).inner()).isEqualTo(1338);
        assertThat(new Mtu(1400, Esp.USERSPACE).segment()).isEqualTo(1298);
    }

    @ParameterizedTest
    @EnumSource
    void the_largest_packet_fits_and_one_byte_more_does_not(Esp by) {
        for (int link = 576; link <= 9_000; link++) {
            Mtu mtu = new Mtu(link, by);
            assertThat(mtu.outer(mtu.inner())).isLessThanOrEqualTo(link);
            if (by == Esp.KERNEL || link < 1_464) {
                assertThat(mtu.outer(mtu.inner() + 1)).isGreaterThan(link);
            } else {
                assertThat(mtu.inner()).as("no larger packet is read").isEqualTo(1_400);
            }
        }
    }

    @Test
    void refuses_links_that_carry_no_ip() {
        assertThatThrownBy(() -> new Mtu(575, Esp.KERNEL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Mtu(65_536, Esp.KERNEL)).isInstanceOf(IllegalArgumentException.class);
    }
}
