package org.cloister.transport.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.CertificateException;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.junit.jupiter.api.Test;

class TlsProfileTest {
    private static final CertifiedPeerVerifier NOBODY = chain -> {
        throw new CertificateException("the handshake does not come so far here");
    };

    /** supported_groups with secp384r1 alone (RFC 8446, section 4.2.7). */
    private static final String P384_ALONE = "000a000400020018";

    private static TlsCredential credential() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp384r1"));
        KeyPair pair = generator.generateKeyPair();
        SubjectPublicKey key = SubjectPublicKey.parse(pair.getPublic().getEncoded());
        CertificateAuthority authority = CertificateAuthority.ofProject(
                "a",
                key,
                CertificateSigner.of(pair.getPrivate()),
                Instant.now(),
                Duration.ofHours(25),
                new SecureRandom());
        byte[] leaf =
                authority.issue(new CertificateName("w", "worker", "a"), key, Instant.now(), Duration.ofHours(24));
        return TlsCredential.of(pair.getPrivate(), List.of(leaf));
    }

    private static byte[] hello(SSLEngine client) throws SSLException {
        ByteBuffer out = ByteBuffer.allocate(client.getSession().getPacketBufferSize());
        client.wrap(ByteBuffer.allocate(0), out);
        byte[] bytes = new byte[out.flip().remaining()];
        out.get(bytes);
        return bytes;
    }

    private static void receive(SSLEngine server, byte[] bytes) throws SSLException {
        server.unwrap(
                ByteBuffer.wrap(bytes), ByteBuffer.allocate(server.getSession().getApplicationBufferSize()));
        for (Runnable task = server.getDelegatedTask(); task != null; task = server.getDelegatedTask()) {
            task.run();
        }
        server.wrap(
                ByteBuffer.allocate(0), ByteBuffer.allocate(server.getSession().getPacketBufferSize()));
    }

    @Test
    void inside_a_circuit_one_group_and_one_suite_are_offered_and_no_session() throws Exception {
        String hello = HexFormat.of().formatHex(hello(TlsProfile.CIRCUIT.client(credential(), NOBODY)));
        assertThat(hello).contains(P384_ALONE);
        // One suite, TLS_AES_256_GCM_SHA384, behind a session id of 32 bytes.
        assertThat(hello.substring(2 * 76, 2 * 80)).isEqualTo("00021302");
        // pre_shared_key would be the last extension, early_data before it.
        assertThat(hello).doesNotContain("002a0000");
    }

    @Test
    void inside_a_circuit_no_other_group_is_taken() throws Exception {
        TlsCredential own = credential();
        String hello = HexFormat.of().formatHex(hello(TlsProfile.CIRCUIT.client(own, NOBODY)));
        receive(TlsProfile.CIRCUIT.server(own, NOBODY), HexFormat.of().parseHex(hello));
        // The group in supported_groups, and that of the one share in key_share.
        String p256 = hello.replace(P384_ALONE, "000a000400020017").replace("006500180061", "006500170061");
        assertThatThrownBy(() -> receive(
                        TlsProfile.CIRCUIT.server(own, NOBODY), HexFormat.of().parseHex(p256)))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("No common named group");
    }
}
