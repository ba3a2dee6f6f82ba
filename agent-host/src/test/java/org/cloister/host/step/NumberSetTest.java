package org.cloister.host.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NumberSetTest {
    @Test
    void ranges_and_numbers_are_read_as_the_kernel_writes_them() throws IOException {
        assertThat(NumberSet.parse("0-2,8,10-11")).containsExactly(0, 1, 2, 8, 10, 11);
        assertThat(NumberSet.parse("")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "1-", "-1", "3-1", "0-99999", "9000", "1,,2", "0-8191-9", " 1"})
    void other_text_is_refused(String text) {
        assertThatThrownBy(() -> NumberSet.parse(text)).isInstanceOf(IOException.class);
    }
}
