package org.cloister.ovs.dns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostNameTest {
    private static final String LONGEST_LABEL = "a".repeat(63);
    private static final String LONGEST = (LONGEST_LABEL + ".").repeat(3) + "b".repeat(61);

    @ParameterizedTest
    @ValueSource(
            strings = {"a", "licence", "licence.example.org", "3com.example", "xn--bcher-kva.example", "a--b.example"})
    void what_rfc_1123_allows(String text) {
        assertThat(new HostName(text)).hasToString(text);
    }

    @Test
    void both_lengths_have_an_end() {
        assertThat(LONGEST).hasSize(253);
        assertThat(new HostName(LONGEST)).hasToString(LONGEST);
        for (String text : new String[] {LONGEST + "b", "a" + LONGEST_LABEL, LONGEST_LABEL + "a.example"}) {
            assertThatThrownBy(() -> new HostName(text)).hasMessageStartingWith("name: want labels of at most 63");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ".",
                "a.",
                ".a",
                "a..b",
                "-a",
                "a-",
                "a.-b",
                "a-.b",
                "A",
                "a_b",
                "a b",
                "a\n",
                "a\nb",
                "ü",
                "a/b",
                "a:1",
                "127.0.0.1",
                "127.1",
                "2130706433",
                "0x7f000001",
                "a.1",
                "a.0x7f",
                "::1",
                "localhost",
                "x.localhost",
                "localhost.localdomain",
                "ip6-localhost"
            })
    void nothing_else(String text) {
        assertThatThrownBy(() -> new HostName(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_named_destination_is_read_as_it_is_written() {
        assertThat(NamedEgressDestination.parse("a.example:udp:123")).hasToString("a.example:udp:123");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a.example",
                "a.example:tcp",
                "a.example:tcp:0",
                "a.example:tcp:65536",
                "a.example:sctp:1",
                "a.example:tcp:1:2"
            })
    void a_named_destination_is_nothing_else(String text) {
        assertThatThrownBy(() -> NamedEgressDestination.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "10.77.0.0/16, 10.77.255.255, true",
        "10.77.0.0/16, 10.78.0.0, false",
        "10.77.0.0/16, ::a4d:1, false",
        "0.0.0.0/0, 192.0.2.1, true",
        "192.0.2.7/32, 192.0.2.7, true",
        "192.0.2.7/32, 192.0.2.6, false",
        "fd00:77::/32, fd00:77::1, true",
        "fd00:77::/32, fd00:78::1, false"
    })
    void a_range_has_the_addresses_that_begin_like_it(String range, String address, boolean contained)
            throws Exception {
        assertThat(AddressPrefix.parse(range).contains(InetAddress.getByName(address)))
                .isEqualTo(contained);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.77.0.0",
                "10.77.0.1/16",
                "10.77.0.0/33",
                "10.77.0/16",
                "a/8",
                "300.0.0.0/8",
                "fd00::1/64",
                "::/129"
            })
    void a_range_is_nothing_else(String text) {
        assertThatThrownBy(() -> AddressPrefix.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
