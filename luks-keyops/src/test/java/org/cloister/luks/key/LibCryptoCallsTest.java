package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.junit.jupiter.api.Test;

class LibCryptoCallsTest {
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);

    LibCryptoCallsTest() throws IOException {}

    @Test
    void a_missing_library_shows_at_the_start() {
        assertThatThrownBy(() -> LibCryptoCalls.load(secrets, "libcrypto.so.99"))
                .isInstanceOfSatisfying(
                        SecretException.class, e -> assertThat(e.call()).isEqualTo("libcrypto.so.99"))
                .hasMessageEndingWith("install libssl3");
    }

    @Test
    void so_does_a_library_without_what_is_called() {
        assertThatThrownBy(() -> LibCryptoCalls.load(secrets, "libz.so.1")).isInstanceOf(SecretException.class);
    }
}
