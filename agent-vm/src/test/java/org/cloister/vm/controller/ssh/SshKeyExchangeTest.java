package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.protocol.identity.CertificateRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class SshKeyExchangeTest extends SingleLoginFixture {
    @Test
    void ssh_gets_a_post_quantum_key_exchange_unless_it_asks_for_p384() throws Exception {
        // What ssh offers by itself, P-384 among it.
        assertThat(log("+ecdh-sha2-nistp384"))
                .contains("kex: algorithm: sntrup761x25519-sha512@openssh.com", "Authenticated to");
        assertThat(log("ecdh-sha2-nistp384")).contains("kex: algorithm: ecdh-sha2-nistp384", "Authenticated to");
    }

    @Test
    void no_other_key_exchange_is_offered() throws Exception {
        assertThat(log("curve25519-sha256"))
                .contains("no matching key exchange method found")
                .doesNotContain("Authenticated to");
    }

    private String log(String exchanges) throws Exception {
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            return call.ssh("-v", "-o", "KexAlgorithms=" + exchanges, "true").errors();
        }
    }
}
