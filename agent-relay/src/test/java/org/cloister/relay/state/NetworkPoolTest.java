package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Set;
import org.cloister.base.address.Ipv4Network;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
