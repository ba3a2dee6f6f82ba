package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.VerificationKey;
import org.junit.jupiter.api.Test;

class BootKeyPairsTest {
    private static final byte[] INFO = "cloister test".getBytes(StandardCharsets.US_ASCII);
    private static final int SPKI_HEAD = 23;

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);

    BootKeyPairsTest() throws IOException {}

    private BootKeyPairs make() throws IOException {
        return BootKeyPairs.generate(secrets);
    }

    @Test
    void two_boots_share_no_key() throws IOException {
        try (BootKeyPairs one = make();
                BootKeyPairs other = make()) {
            assertThat(one.publicKeys().signing())
                    .isNotEqualTo(other.publicKeys().signing());
            assertThat(one.publicKeys().sealing())
                    .isNotEqualTo(other.publicKeys().sealing());
        }
    }

    @Test
    void the_shown_keys_are_those_of_the_private_ones() throws IOException, GeneralSecurityException {
        try (BootKeyPairs keys = make();
                SecretMemory secret = secrets.random(32)) {
            Signature signature = Signature.getInstance("SHA384withECDSA");
            signature.initSign(keys.signing());
            signature.update(INFO);
            assertThat(keys.publicKeys().signing().verifies(INFO, signature.sign()))
                    .isTrue();
            Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
            byte[] sealed = hpke.seal(point(keys.publicKeys().sealing()), INFO, new byte[0], secret);
            try (SecretMemory opened = hpke.open(keys.sealing(), INFO, new byte[0], sealed)) {
                assertThat(opened.sameAs(secret)).isTrue();
            }
        }
    }

    private static SealingPublicKey point(VerificationKey key) throws IOException {
        byte[] spki = key.encoded();
        return SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length));
    }

    @Test
    void the_private_sealing_key_is_gone_when_it_is_closed() throws IOException {
        Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
        try (SecretMemory secret = secrets.random(32)) {
            BootKeyPairs keys = make();
            byte[] sealed = hpke.seal(point(keys.publicKeys().sealing()), INFO, new byte[0], secret);
            assertThat(secrets.liveCount()).isEqualTo(2);
            keys.close();
            assertThat(secrets.liveCount()).isEqualTo(1);
            assertThatThrownBy(() -> hpke.open(keys.sealing(), INFO, new byte[0], sealed))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void the_private_signing_key_has_no_value_in_the_heap_and_signs_nothing_after_the_close() throws Exception {
        PrivateKey key;
        try (BootKeyPairs keys = make()) {
            key = keys.signing();
            assertThat(key.getEncoded()).isNull();
            assertThat(key).isNotInstanceOf(ECPrivateKey.class);
        }
        Signature signature = Signature.getInstance("SHA384withECDSA");
        signature.initSign(key);
        signature.update(INFO);
        assertThatThrownBy(signature::sign).isInstanceOf(SignatureException.class);
    }

    @Test
    void the_copy_for_charon_is_the_key_of_the_pair() throws Exception {
        try (BootKeyPairs keys = make();
                SecretMemory copy = keys.signingPkcs8();
                SecretMemory.Loan loan = copy.lend()) {
            byte[] der = new byte[loan.length()];
            loan.pointer().get(0, der, 0, der.length);
            PrivateKey read = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
            Signature signature = Signature.getInstance("SHA384withECDSA");
            signature.initSign(read);
            signature.update(INFO);
            assertThat(keys.publicKeys().signing().verifies(INFO, signature.sign()))
                    .isTrue();
        }
    }

    @Test
    void words_about_it_have_ids_and_nothing_of_what_is_private() throws IOException {
        try (BootKeyPairs keys = make()) {
            assertThat(keys.toString())
                    .contains(
                            keys.publicKeys().signing().id(),
                            keys.publicKeys().sealing().id());
        }
    }
}
