package org.cloister.vm.system.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class InterfaceStateTest {
    private static final String TWO = """
            [{"ifname":"lo","flags":["LOOPBACK","UP"],"mtu":65536,"address":"00:00:00:00:00:00",
              "addr_info":[{"local":"127.0.0.1","prefixlen":8}]},
             {"ifname":"eth0","flags":["BROADCAST","LOWER_UP"],"mtu":1400,"address":"02:00:00:00:01:02","addr_info":[]}]
            """;

    @Test
    void finds_the_one_interface_with_a_mac() throws IOException {
        List<InterfaceState> links = InterfaceState.parse(TWO);
        assertThat(InterfaceState.withMac(links, "02:00:00:00:01:02"))
                .isEqualTo(new InterfaceState("eth0", "02:00:00:00:01:02", 1400, false, List.of()));
        assertThat(links.get(0).up()).isTrue();
        assertThat(links.get(0).addresses()).containsExactly("127.0.0.1/8");
    }

    @Test
    void none_two_or_a_name_that_is_none_is_an_error() throws IOException {
        List<InterfaceState> links = InterfaceState.parse(TWO);
        assertThatThrownBy(() -> InterfaceState.withMac(links, "02:00:00:00:01:03"))
                .hasMessage("interface with MAC 02:00:00:00:01:03: want one, have [] of [lo, eth0]");
        InterfaceState odd = new InterfaceState("a\"b", "02:00:00:00:01:04", 1500, true, List.of());
        InterfaceState twin = new InterfaceState("eth1", "02:00:00:00:01:02", 1500, true, List.of());
        assertThatThrownBy(() -> InterfaceState.withMac(List.of(odd), odd.mac()))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> InterfaceState.withMac(List.of(links.get(1), twin), twin.mac()))
                .hasMessageContaining("want one, have [eth0, eth1]");
        assertThatThrownBy(() -> InterfaceState.parse("[{")).isInstanceOf(IOException.class);
    }
}
