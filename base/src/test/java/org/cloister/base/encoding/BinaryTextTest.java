package org.cloister.base.encoding;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BinaryTextTest {
    private static final long SEED = 0xB32L;

    /** RFC 4648, section 10, in lower case and without padding. */
    @ParameterizedTest
    @CsvSource({"'',''", "f,my", "fo,mzxq", "foo,mzxw6", "foob,mzxw6yq", "fooba,mzxw6ytb", "foobar,mzxw6ytboi"})
    void base32_as_the_rfc_has_it(String bytes, String text) {
        assertThat(BinaryText.base32(bytes.getBytes(US_ASCII))).isEqualTo(text);
        assertThat(BinaryText.fromBase32(text, 6)).asString(US_ASCII).isEqualTo(bytes);
    }

    @Test
    void what_is_written_is_read_again() {
        Random random = new Random(SEED);
        for (int i = 0; i < 2_000; i++) {
            byte[] bytes = new byte[random.nextInt(100)];
            random.nextBytes(bytes);
            assertThat(BinaryText.fromBase32(BinaryText.base32(bytes), bytes.length))
                    .isEqualTo(bytes);
            assertThat(BinaryText.fromBase64(BinaryText.base64(bytes), bytes.length))
                    .isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"m", "mz", "MY", "my======", "m1", "mzx", "my\n", " my", "mzxw6ytboj"})
    void base32_has_one_spelling(String text) {
        assertThatThrownBy(() -> BinaryText.fromBase32(text, 100)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Zg", "Zg=", "Zh==", "Zg==\n", "Z-==", "Z g==", "Zm9v=", "="})
    void base64_has_one_spelling(String text) {
        assertThatThrownBy(() -> BinaryText.fromBase64(text, 100)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void more_than_the_limit_is_refused() {
        assertThatThrownBy(() -> BinaryText.fromBase32(BinaryText.base32(new byte[33]), 32))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> BinaryText.fromBase64(BinaryText.base64(new byte[33]), 31))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> BinaryText.fromBase64(BinaryText.base64(new byte[33]), 32))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
