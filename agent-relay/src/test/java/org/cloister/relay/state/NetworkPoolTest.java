package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import org.cloister.base.address.Ipv4Network;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NetworkPoolTest {
    private static final Ipv4Network TEN = Ipv4Network.parse("10.64.0.0/10");
    private static final Duration REST = Duration.ofMinutes(10);

    @Test
    void a_vlans_network_follows_from_its_number() {
        NetworkPool pool = NetworkPool.DEFAULT;
        assertThat(pool.network(100)).hasToString("10.65.144.0/22");
        assertThat(pool.network(4094)).hasToString("10.127.248.0/22");
        assertThat(pool.network(100).address(NetworkPool.CONTROLLER)).isEqualTo("10.65.144.1");
        assertThat(pool.network(100).address(NetworkPool.FIRST_HOST)).isEqualTo("10.65.144.2");
        assertThat(pool.network(100).address(pool.lastHost())).isEqualTo("10.65.147.254");
        assertThat(pool.hosts()).isEqualTo(1021);
        assertThat(StateSamples.SMALL.hosts()).isEqualTo(5);
    }

    @Test
    void reserved_vlans_are_not_of_the_pool() {
        NetworkPool pool = new NetworkPool(TEN, 22, 100, 200, Set.of(150), REST);
        assertThat(pool.has(99)).isFalse();
        assertThat(pool.has(100)).isTrue();
        assertThat(pool.has(150)).isFalse();
        assertThat(pool.has(200)).isTrue();
        assertThat(pool.has(201)).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "10.64.0.0/10 | 22 | 0   | 200  | 600    | VLANs: want a range within 1 to 4094, have 0 to 200",
                "10.64.0.0/10 | 22 | 100 | 4095 | 600    | VLANs: want a range within 1 to 4094, have 100 to 4095",
                "10.64.0.0/10 | 22 | 200 | 100  | 600    | VLANs: want a range within 1 to 4094, have 200 to 100",
                "10.64.0.0/10 | 15 | 100 | 200  | 600    | prefix of a VLAN's network: want 16 to 29 bits, have 15",
                "10.64.0.0/10 | 30 | 100 | 200  | 600    | prefix of a VLAN's network: want 16 to 29 bits, have 30",
                "10.64.0.0/11 | 22 | 100 | 4094 | 600    | network: want one that has 4095 networks of 22 bits, one "
                        + "for each VLAN up to 4094, have 10.64.0.0/11",
                "10.64.0.0/24 | 22 | 100 | 200  | 600    | network: want one that has 201 networks of 22 bits, one "
                        + "for each VLAN up to 200, have 10.64.0.0/24",
                "10.64.0.0/10 | 22 | 100 | 200  | -1     | rest: want whole seconds up to 7 days, have PT-1S",
                "10.64.0.0/10 | 22 | 100 | 200  | 604801 | rest: want whole seconds up to 7 days, have PT168H1S",
            })
    void what_does_not_fit_is_said_with_both_values(
            String network, int prefix, int first, int last, long rest, String text) {
        assertThatThrownBy(() -> new NetworkPool(
                        Ipv4Network.parse(network), prefix, first, last, Set.of(), Duration.ofSeconds(rest)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(text);
    }

    @Test
    void half_a_second_of_rest_is_refused() {
        assertThatThrownBy(() -> new NetworkPool(TEN, 22, 1, 2, Set.of(), Duration.ofMillis(1500)))
                .hasMessage("rest: want whole seconds up to 7 days, have PT1.5S");
    }

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
}
