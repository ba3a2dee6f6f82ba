package org.cloister.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LabNameTest {
    @Test
    void takes_what_fits_in_a_socket_path() {
        assertThat(new LabName("a").text()).isEqualTo("a");
        assertThat(new LabName("abcdefghij0123456-89").text()).hasSize(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "A", "1a", "-a", "a/b", "a..b", "abcdefghij0123456-890"})
    void refuses_what_is_no_short_plain_name(String text) {
        assertThatThrownBy(() -> new LabName(text)).hasMessageContaining("lab name \"" + text + "\"");
    }
}
