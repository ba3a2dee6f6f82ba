package org.cloister.protocol.dsse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VerificationKeyTest {
    @ParameterizedTest
    @EnumSource(SignatureCurve.class)
    void its_id_is_the_digest_of_its_encoding(SignatureCurve curve) throws Exception {
        VerificationKey key = DsseEnvelopeTest.key(curve).verificationKey();
        assertThat(key.id())
                .hasSize(VerificationKey.ID_LENGTH)
                .isEqualTo(
                        BinaryText.base32(MessageDigest.getInstance("SHA-256").digest(key.encoded())));
        assertThat(VerificationKey.parse(key.encoded())).isEqualTo(key).hasSameHashCodeAs(key);
        assertThat(key.curve()).isEqualTo(curve);
    }

    @Test
    void other_curves_and_kinds_are_refused() throws Exception {
        KeyPairGenerator p521 = KeyPairGenerator.getInstance("EC");
        p521.initialize(new ECGenParameterSpec("secp521r1"));
        assertThatThrownBy(() -> VerificationKey.of(p521.generateKeyPair().getPublic()))
                .isInstanceOf(MalformedException.class);
        KeyPairGenerator ed25519 = KeyPairGenerator.getInstance("Ed25519");
        assertThatThrownBy(() -> VerificationKey.of(ed25519.generateKeyPair().getPublic()))
                .isInstanceOf(MalformedException.class);
    }

    @ParameterizedTest
    @EnumSource(SignatureCurve.class)
    void a_point_beside_the_curve_is_refused(SignatureCurve curve) {
        byte[] spki = DsseEnvelopeTest.key(curve).verificationKey().encoded();
        spki[spki.length - 1] ^= 1;
        assertThatThrownBy(() -> VerificationKey.parse(spki)).isInstanceOf(MalformedException.class);
    }

    @ParameterizedTest
    @EnumSource(SignatureCurve.class)
    void cut_off_or_longer_encodings_are_refused(SignatureCurve curve) {
        byte[] spki = DsseEnvelopeTest.key(curve).verificationKey().encoded();
        for (int length = 0; length < spki.length; length++) {
            byte[] head = Arrays.copyOf(spki, length);
            assertThatThrownBy(() -> VerificationKey.parse(head)).isInstanceOf(MalformedException.class);
        }
        assertThatThrownBy(() -> VerificationKey.parse(Arrays.copyOf(spki, spki.length + 1)))
                .isInstanceOf(MalformedException.class);
    }
}
