package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;

class SigningKeyFileTest {
    private static final byte[] PASSPHRASE = "correct horse battery".getBytes(StandardCharsets.UTF_8);

    private static byte[] written(KeyPair pair) throws Exception {
        return SigningKeyFile.seal(pair, PASSPHRASE, new SecureRandom()).json();
    }

    private static byte[] changed(byte[] file, String from, String to) {
        String text = new String(file, StandardCharsets.UTF_8);
        assertThat(text).contains(from);
        return text.replace(from, to).getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void opens_with_its_passphrase_and_signs_as_the_key_it_names() throws Exception {
        for (SignatureCurve curve : SignatureCurve.values()) {
            KeyPair pair = KeySamples.pair(curve);
            SigningKey key = SigningKeyFile.parse(written(pair)).open(PASSPHRASE);
            byte[] message = {1, 2, 3};
            assertThat(VerificationKey.of(pair.getPublic()).verifies(message, key.sign(message)))
                    .isTrue();
        }
    }

    @Test
    void another_passphrase_another_key_or_other_parameters_open_nothing() throws Exception {
        byte[] file = written(KeySamples.pair(SignatureCurve.P384));
        byte[] wrong = "correct horse batterx".getBytes(StandardCharsets.UTF_8);
        assertThatThrownBy(() -> SigningKeyFile.parse(file).open(wrong))
                .isInstanceOf(CertificationRefusedException.class);
        String other = VerificationKey.of(KeySamples.pair(SignatureCurve.P384).getPublic())
                .toString();
        assertThat(other).hasSize(VerificationKey.ID_LENGTH);
        for (byte[] bad : List.of(
                changed(file, "\"passes\":3", "\"passes\":2"),
                changed(file, "\"lanes\":4", "\"lanes\":1"),
                changed(file, "\"memory\":65536", "\"memory\":8192"))) {
            assertThatThrownBy(() -> SigningKeyFile.parse(bad).open(PASSPHRASE))
                    .isInstanceOf(CertificationRefusedException.class);
        }
    }

    @Test
    void costs_beyond_their_bounds_are_refused_before_they_are_paid() throws Exception {
        byte[] file = written(KeySamples.pair(SignatureCurve.P256));
        for (byte[] bad : List.of(
                changed(file, "\"memory\":65536", "\"memory\":1048577"),
                changed(file, "\"memory\":65536", "\"memory\":8191"),
                changed(file, "\"passes\":3", "\"passes\":17"),
                changed(file, "\"passes\":3", "\"passes\":0"),
                changed(file, "\"lanes\":4", "\"lanes\":9"),
                changed(file, "\"lanes\":4", "\"lanes\":0"),
                changed(file, "argon2id", "argon2i"),
                changed(file, "\"sealed\":\"", "\"sealed\":\"AAAA"))) {
            assertThatThrownBy(() -> SigningKeyFile.parse(bad)).isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void the_same_key_and_passphrase_make_another_file_each_time_and_short_passphrases_none() throws Exception {
        KeyPair pair = KeySamples.pair(SignatureCurve.P384);
        assertThat(written(pair)).isNotEqualTo(written(pair));
        assertThatThrownBy(() ->
                        SigningKeyFile.seal(pair, new byte[SigningKeyFile.MIN_PASSPHRASE - 1], new SecureRandom()))
                .isInstanceOf(CertificationRefusedException.class);
    }
}
