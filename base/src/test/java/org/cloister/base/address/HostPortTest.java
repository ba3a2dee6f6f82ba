package org.cloister.base.address;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {
    @ParameterizedTest
    @ValueSource(strings = {"relay.example.org:7443", "10.0.0.1:1", "[fd00::1]:65535"})
    void is_written_as_it_was_read(String text) {
        assertThat(HostPort.parse(text)).hasToString(text);
        assertThat(HostPort.text(HostPort.parse(text).unresolved())).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "relay", "relay:", ":1", "relay:0", "relay:65536", "relay:01", "fd00::1:1", "a b:1", "a:1\n"
            })
    void another_form_is_refused(String text) {
        assertThatThrownBy(() -> HostPort.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("want HOST:PORT, have ");
    }

    @Test
    void what_is_refused_is_printed_without_control_characters() {
        assertThatThrownBy(() -> HostPort.parse("a\u001b[1m:x")).hasMessage("want HOST:PORT, have a?[1m:x");
    }
}
