package org.cloister.base.encoding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DigestTest {
    /** FIPS 180-4's example of SHA-384, "abc". */
    private static final String ABC =
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed" + "8086072ba1e7cc2358baeca134c825a7";

    @Test
    void gives_the_published_digest_of_a_text_and_of_a_file(@TempDir Path folder) throws Exception {
        assertThat(Digest.sha384("abc").hex()).isEqualTo(ABC);
        assertThat(Digest.sha384(Files.writeString(folder.resolve("abc"), "abc")))
                .hasToString(ABC);
        assertThat(Digest.sha384("abc").abbreviated()).isEqualTo("cb00753f");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "cb", "CB00753F45A35E8BB5A03D699AC65007272C32AB0EDED1631A8B605A43FF5BED"})
    void refuses_what_is_no_sha256_in_lower_case_hex(String hex) {
        assertThatThrownBy(() -> new Digest(Digest.Algorithm.SHA256, hex))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("SHA-256 digest: want 64 lower-case hex digits, have \"" + hex + "\"");
    }
}
