package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.Secrets;
import org.junit.jupiter.api.Test;

class CryptoTest {
    private final Secrets secrets = Secrets.open(Secrets.Locking.REQUIRED);

    CryptoTest() throws IOException {}

    @Test
    void a_missing_library_shows_at_the_start() {
        assertThatThrownBy(() -> Crypto.load(secrets, "libcrypto.so.99"))
                .isInstanceOfSatisfying(
                        SecretException.class, e -> assertThat(e.call()).isEqualTo("libcrypto.so.99"))
                .hasMessageEndingWith("install libssl3");
    }

    @Test
    void so_does_a_library_without_what_is_called() {
        assertThatThrownBy(() -> Crypto.load(secrets, "libz.so.1")).isInstanceOf(SecretException.class);
    }
}
