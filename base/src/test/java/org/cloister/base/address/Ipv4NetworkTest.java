package org.cloister.base.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Ipv4NetworkTest {
    private static final Ipv4Network TEN = Ipv4Network.parse("10.64.0.0/10");

    @ParameterizedTest
    @ValueSource(
            strings = {"", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "256.0.0.0/8", "10.0.0/8", "10.0.0.1/8", "a/8"})
    void what_is_no_network_is_refused(String text) {
        assertThatThrownBy(() -> Ipv4Network.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0/0", "255.255.255.255/32", "10.64.12.0/22", "192.168.0.0/16"})
    void a_network_is_written_as_it_was_read(String text) {
        assertThat(Ipv4Network.parse(text)).hasToString(text);
    }

    @Test
    void a_network_has_no_part_or_address_outside_of_it() {
        assertThat(TEN.subnet(22, 4095)).hasToString("10.127.252.0/22");
        assertThatThrownBy(() -> TEN.subnet(22, 4096)).hasMessage("10.64.0.0/10: want one of 4096 subnets, have 4096");
        assertThatThrownBy(() -> TEN.subnet(22, -1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TEN.subnet(9, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TEN.subnet(33, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Ipv4Network.parse("10.0.0.0/30").address(4))
                .hasMessage("10.0.0.0/30: want host 0 to 3, have 4");
    }

    @ParameterizedTest
    @CsvSource({
        "203.0.113.9, 0, 0.0.0.0/0",
        "203.0.113.9, 8, 203.0.0.0/8",
        "10.70.1.2, 23, 10.70.0.0/23",
        "10.70.1.2, 30, 10.70.1.0/30",
        "10.70.1.2, 32, 10.70.1.2/32",
    })
    void an_address_and_a_prefix_make_the_network_that_has_the_address(String address, int prefix, String network) {
        assertThat(Ipv4Network.of(new Ipv4Address(address), prefix)).hasToString(network);
        assertThat(Ipv4Network.parse(network).contains(new Ipv4Address(address)))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 33, 64})
    void a_prefix_beyond_an_addresss_bits_is_refused(int prefix) {
        assertThatThrownBy(() -> Ipv4Network.of(new Ipv4Address("10.70.1.2"), prefix))
                .hasMessage("prefix: want 0 to 32 bits, have " + prefix);
    }

    @Test
    void a_network_contains_its_first_and_last_address_and_none_beside_them() {
        Ipv4Network network = Ipv4Network.parse("10.70.0.0/23");
        assertThat(network.contains(new Ipv4Address("10.70.0.0"))).isTrue();
        assertThat(network.contains(new Ipv4Address("10.70.1.255"))).isTrue();
        assertThat(network.contains(new Ipv4Address("10.69.255.255"))).isFalse();
        assertThat(network.contains(new Ipv4Address("10.70.2.0"))).isFalse();
    }
}
