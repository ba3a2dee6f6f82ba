package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.cloister.luks.secret.SecretAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests libcrypto's P-384 against that of the JDK, through the interfaces that Java's TLS uses. */
class P384ProviderTest {
    private static final String OWN = "Cloister-P384";
    private static final String JDK = "SunEC";
    private static final String ECDSA = "SHA384withECDSA";
    private static final byte[] MESSAGE = "cloister test".getBytes(StandardCharsets.US_ASCII);

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);

    private final List<P384KeyPair> pairs = new ArrayList<>();

    P384ProviderTest() throws IOException {}

    @BeforeEach
    void install() throws IOException {
        P384Provider.install(LibCryptoCalls.load(secrets));
    }

    @AfterEach
    void remove() {
        pairs.forEach(P384KeyPair::close);
        Security.removeProvider(OWN);
    }

    private KeyPair ownPair() throws IOException {
        P384KeyPair pair = P384KeyPair.generate(LibCryptoCalls.load(secrets));
        pairs.add(pair);
        return pair.pair();
    }

    private static KeyPair jdkPair(String curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve));
        return generator.generateKeyPair();
    }

    private static byte[] sign(String provider, KeyPair pair) throws Exception {
        Signature signature = Signature.getInstance(ECDSA, provider);
        signature.initSign(pair.getPrivate());
        signature.update(MESSAGE, 0, 4);
        signature.update(MESSAGE, 4, MESSAGE.length - 4);
        return signature.sign();
    }

    private static boolean verifies(String provider, KeyPair pair, byte[] message, byte[] signed) throws Exception {
        Signature signature = Signature.getInstance(ECDSA, provider);
        signature.initVerify(pair.getPublic());
        signature.update(message);
        return signature.verify(signed);
    }

    @Test
    void each_verifies_what_the_other_signs_and_nothing_else() throws Exception {
        KeyPair own = ownPair();
        KeyPair other = jdkPair("secp384r1");
        byte[] changed = MESSAGE.clone();
        changed[3]++;
        for (int i = 0; i < 50; i++) {
            assertThat(verifies(JDK, own, MESSAGE, sign(OWN, own))).isTrue();
            byte[] signed = sign(JDK, other);
            assertThat(verifies(OWN, other, MESSAGE, signed)).isTrue();
            assertThat(verifies(OWN, other, changed, signed)).isFalse();
            assertThat(verifies(OWN, own, MESSAGE, signed)).isFalse();
        }
        assertThat(verifies(OWN, own, MESSAGE, new byte[] {0x30, 2, 1, 0})).isFalse();
        assertThat(verifies(OWN, own, MESSAGE, new byte[0])).isFalse();
    }

    @Test
    void java_uses_its_own_provider_for_other_curves_and_other_private_keys() throws Exception {
        KeyPair other = jdkPair("secp256r1");
        assertThat(other.getPrivate()).isInstanceOf(ECPrivateKey.class);
        for (KeyPair pair : List.of(ownPair(), jdkPair("secp384r1"))) {
            Signature signature = Signature.getInstance(ECDSA);
            signature.initSign(pair.getPrivate());
            signature.update(MESSAGE);
            assertThat(verifies(JDK, pair, MESSAGE, signature.sign())).isTrue();
        }
        Signature signature = Signature.getInstance(ECDSA);
        signature.initSign(other.getPrivate());
        signature.update(MESSAGE);
        byte[] signed = signature.sign();
        signature = Signature.getInstance(ECDSA);
        signature.initVerify(other.getPublic());
        signature.update(MESSAGE);
        assertThat(signature.verify(signed)).isTrue();
    }

    @Test
    void a_private_key_has_no_encoding_is_not_written_and_signs_nothing_when_it_is_closed() throws Exception {
        KeyPair own = ownPair();
        P384PrivateKey key = (P384PrivateKey) own.getPrivate();
        assertThat(key.getEncoded()).isNull();
        assertThat(key.getFormat()).isNull();
        assertThat(key).hasToString("P384PrivateKey");
        try (ObjectOutputStream out = new ObjectOutputStream(new ByteArrayOutputStream())) {
            assertThatThrownBy(() -> out.writeObject(key)).isInstanceOf(NotSerializableException.class);
        }
        key.close();
        key.close();
        assertThatThrownBy(() -> sign(OWN, own)).hasMessageContaining("have a closed one");
    }

    @Test
    void threads_sign_with_one_key_at_a_time() throws Exception {
        KeyPair own = ownPair();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Callable<Boolean> signs = () -> {
                for (int i = 0; i < 100; i++) {
                    if (!verifies(JDK, own, MESSAGE, sign(OWN, own))) {
                        return false;
                    }
                }
                return true;
            };
            List<Future<Boolean>> done = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                done.add(threads.submit(signs));
            }
            for (Future<Boolean> each : done) {
                assertThat(each.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void it_is_installed_once() throws IOException {
        P384Provider.install(LibCryptoCalls.load(secrets));
        assertThat(Security.getProviders())
                .extracting(Provider::getName)
                .containsOnlyOnce(OWN)
                .first()
                .isEqualTo(OWN);
    }
}
