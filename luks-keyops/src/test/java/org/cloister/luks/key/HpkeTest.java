package org.cloister.luks.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.bouncycastle.crypto.AsymmetricCipherKeyPair;
import org.bouncycastle.crypto.InvalidCipherTextException;
import org.bouncycastle.crypto.hpke.HPKE;
import org.bouncycastle.crypto.params.AsymmetricKeyParameter;
import org.bouncycastle.jce.ECNamedCurveTable;
import org.cloister.luks.secret.KnownSecrets;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** P-384, both ways against BouncyCastle, and whatever must not open. */
class HpkeTest {
    private static final byte[] INFO = "info".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] AAD = "additional".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] NOTHING = {};
    private static final BigInteger ORDER =
            ECNamedCurveTable.getParameterSpec("secp384r1").getN();

    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    private final Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));

    HpkeTest() throws IOException {}

    @AfterEach
    void no_secret_is_left_behind() {
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void opens_what_bouncycastle_seals() throws Exception {
        Random random = new Random(1);
        for (int length : new int[] {1, 16, 32, 64, 1000, Hpke.MAX_SECRET}) {
            byte[] plain = bytes(random, length);
            byte[] aad = bytes(random, length % 50);
            try (SealingKey receiver = hpke.generate()) {
                HPKE base = oracle();
                byte[][] sealed = base.seal(theirs(base, receiver), INFO, aad, plain, null, null, null);
                try (SecretMemory opened = hpke.open(receiver, INFO, aad, Hkdf.join(sealed[1], sealed[0]))) {
                    assertThat(KnownSecrets.bytes(opened)).isEqualTo(plain);
                }
            }
        }
    }

    @Test
    void bouncycastle_opens_what_we_seal() throws Exception {
        Random random = new Random(2);
        for (int length : new int[] {1, 16, 32, 64, 1000, Hpke.MAX_SECRET}) {
            byte[] plain = bytes(random, length);
            byte[] aad = bytes(random, length % 50);
            try (SealingKey receiver = hpke.generate();
                    SecretMemory secret = KnownSecrets.secret(secrets, plain)) {
                byte[] sealed = hpke.seal(receiver.publicKey(), INFO, aad, secret);
                assertThat(open(receiver, aad, sealed)).isEqualTo(plain);
            }
        }
    }

    @Test
    void derives_the_same_pair_from_a_seed_as_bouncycastle() throws IOException {
        byte[] seed = bytes(new Random(3), 48);
        HPKE base = oracle();
        AsymmetricCipherKeyPair expected = base.deriveKeyPair(seed);
        try (SecretMemory secret = KnownSecrets.secret(secrets, seed);
                SealingKey pair = hpke.derive(secret)) {
            assertThat(pair.publicKey().bytes()).isEqualTo(base.serializePublicKey(expected.getPublic()));
            assertThat(KnownSecrets.bytes(pair.scalar())).isEqualTo(base.serializePrivateKey(expected.getPrivate()));
        }
    }

    @Test
    void refuses_whatever_is_changed() throws IOException {
        try (SealingKey receiver = hpke.generate();
                SealingKey other = hpke.generate();
                SecretMemory secret = secrets.random(64)) {
            byte[] sealed = hpke.seal(receiver.publicKey(), INFO, AAD, secret);
            assertRefused(() -> hpke.open(other, INFO, AAD, sealed));
            assertRefused(() -> hpke.open(receiver, NOTHING, AAD, sealed));
            assertRefused(() -> hpke.open(receiver, INFO, NOTHING, sealed));
            for (int at = SealingPublicKey.LENGTH; at < sealed.length; at++) {
                byte[] changed = sealed.clone();
                changed[at] ^= 1;
                assertRefused(() -> hpke.open(receiver, INFO, AAD, changed));
            }
            byte[] shorter = Arrays.copyOf(sealed, sealed.length - 1);
            assertRefused(() -> hpke.open(receiver, INFO, AAD, shorter));
        }
    }

    @Test
    void refuses_lengths_that_cannot_be() throws IOException {
        try (SealingKey receiver = hpke.generate()) {
            int overhead = SealingPublicKey.LENGTH + AesGcm.TAG;
            for (int length : new int[] {0, 1, 96, 97, overhead, overhead + Hpke.MAX_SECRET + 1}) {
                assertThatThrownBy(() -> hpke.open(receiver, INFO, AAD, new byte[length]))
                        .isInstanceOf(KeyException.Malformed.class)
                        .hasMessage("sealed key: want 114 to 4209 bytes, have " + length
                                + " bytes; see where it comes from");
            }
        }
    }

    @Test
    void refuses_points_that_are_not_on_the_curve() throws IOException {
        try (SealingKey receiver = hpke.generate();
                SecretMemory secret = secrets.random(64)) {
            byte[] point = receiver.publicKey().bytes();
            byte[] offCurve = point.clone();
            offCurve[96] ^= 1;
            byte[] zero = new byte[97];
            zero[0] = 4;
            byte[] high = new byte[97];
            Arrays.fill(high, (byte) 0xff);
            high[0] = 4;
            byte[] swapped =
                    Hkdf.join(new byte[] {4}, Arrays.copyOfRange(point, 49, 97), Arrays.copyOfRange(point, 1, 49));
            byte[] sealed = hpke.seal(receiver.publicKey(), INFO, AAD, secret);
            for (byte[] bad : List.of(offCurve, zero, high, swapped)) {
                SealingPublicKey key = SealingPublicKey.of(bad);
                assertThatThrownBy(() -> hpke.seal(key, INFO, AAD, secret)).isInstanceOf(KeyException.Malformed.class);
                byte[] from = sealed.clone();
                System.arraycopy(bad, 0, from, 0, bad.length);
                assertThatThrownBy(() -> hpke.open(receiver, INFO, AAD, from))
                        .isInstanceOf(KeyException.Malformed.class)
                        .hasMessageStartingWith("public key: want a point of secp384r1, have none of it");
            }
        }
    }

    @Test
    void refuses_public_keys_of_other_forms() {
        byte[] compressed = new byte[49];
        compressed[0] = 2;
        byte[] hybrid = new byte[97];
        hybrid[0] = 6;
        for (byte[] bad : List.of(NOTHING, new byte[] {0}, compressed, hybrid, new byte[97], new byte[98])) {
            assertThatThrownBy(() -> SealingPublicKey.of(bad)).isInstanceOf(KeyException.Malformed.class);
        }
    }

    @Test
    void takes_private_keys_from_one_to_the_order_less_one() throws IOException {
        for (BigInteger good : List.of(BigInteger.ONE, ORDER.subtract(BigInteger.ONE))) {
            hpke.key(KnownSecrets.secret(secrets, scalar(good))).close();
        }
        for (BigInteger bad : List.of(BigInteger.ZERO, ORDER, ORDER.add(BigInteger.ONE))) {
            SecretMemory scalar = KnownSecrets.secret(secrets, scalar(bad));
            assertThatThrownBy(() -> hpke.key(scalar)).isInstanceOf(KeyException.Malformed.class);
        }
    }

    @Test
    void no_two_seals_are_alike() throws IOException {
        try (SealingKey receiver = hpke.generate();
                SecretMemory secret = secrets.random(64)) {
            assertThat(hpke.seal(receiver.publicKey(), INFO, AAD, secret))
                    .isNotEqualTo(hpke.seal(receiver.publicKey(), INFO, AAD, secret));
        }
    }

    private interface Opening {
        SecretMemory open() throws KeyException, SecretException;
    }

    private static void assertRefused(Opening opening) {
        assertThatThrownBy(opening::open)
                .isInstanceOf(KeyException.Refused.class)
                .hasMessageStartingWith("sealed key: ");
    }

    private static byte[] open(SealingKey receiver, byte[] aad, byte[] sealed) throws InvalidCipherTextException {
        HPKE hpke = oracle();
        byte[] enc = Arrays.copyOf(sealed, SealingPublicKey.LENGTH);
        byte[] ct = Arrays.copyOfRange(sealed, enc.length, sealed.length);
        return hpke.open(enc, pair(hpke, receiver), INFO, aad, ct, null, null, null);
    }

    private static HPKE oracle() {
        return new HPKE(HPKE.mode_base, HPKE.kem_P384_SHA384, HPKE.kdf_HKDF_SHA384, HPKE.aead_AES_GCM256);
    }

    private static AsymmetricKeyParameter theirs(HPKE hpke, SealingKey key) {
        return hpke.deserializePublicKey(key.publicKey().bytes());
    }

    private static AsymmetricCipherKeyPair pair(HPKE hpke, SealingKey key) {
        return hpke.deserializePrivateKey(
                KnownSecrets.bytes(key.scalar()), key.publicKey().bytes());
    }

    private static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static byte[] scalar(BigInteger number) {
        byte[] padded = new byte[48];
        byte[] bytes = number.toByteArray();
        int from = bytes.length > 48 ? 1 : 0;
        System.arraycopy(bytes, from, padded, 48 - (bytes.length - from), bytes.length - from);
        return padded;
    }
}
