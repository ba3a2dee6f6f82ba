package org.cloister.base.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Ipv4AddressTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.70.0.256",
                "10.70.0",
                "10.70.0.1/32",
                "127.0.0.1",
                "224.0.0.1",
                "255.255.255.255",
                "0.0.0.0",
                "::1",
                "01.2.3.4",
                "1.2.3.4\n"
            })
    void text_that_is_not_one_machines_address_is_rejected(String text) {
        assertThatThrownBy(() -> new Ipv4Address(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("IPv4 address: want ")
                .hasMessageContaining(text);
    }

    @Test
    void addresses_are_ordered_as_numbers() {
        TreeSet<Ipv4Address> sorted = Stream.of("203.0.113.9", "10.70.0.10", "10.70.0.9", "10.70.0.200", "9.255.0.0")
                .map(Ipv4Address::new)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(sorted)
                .extracting(Ipv4Address::text)
                .containsExactly("9.255.0.0", "10.70.0.9", "10.70.0.10", "10.70.0.200", "203.0.113.9");
    }
}
