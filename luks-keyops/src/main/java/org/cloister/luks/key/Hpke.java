package org.cloister.luks.key;

import java.util.Arrays;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/**
 * HPKE (RFC 9180), one message per context, in base mode: DHKEM(P-384, HKDF-SHA384), HKDF-SHA384, AES-256-GCM. The
 * sealed form is {@code enc || ct}, 97 + length + 16 bytes. Private keys, shared secrets, derived keys and unsealed
 * secrets are stored in secret memory only.
 */
public final class Hpke {
    /** The longest secret that is sealed, in bytes. A munge key has at most 1,024. */
    public static final int MAX_SECRET = 4096;

    private static final byte BASE = 0;
    private static final int MAX_CANDIDATES = 256;

    private final LibCryptoCalls crypto;
    private final HpkeSuite suite;
    private final EcdhCurve curve;
    private final Hkdf kem;
    private final Hkdf schedule;
    private final AesGcm gcm;

    public Hpke(LibCryptoCalls crypto) {
        this(crypto, HpkeSuite.P384);
    }

    Hpke(LibCryptoCalls crypto, HpkeSuite suite) {
        this.crypto = crypto;
        this.suite = suite;
        this.curve = new EcdhCurve(crypto, suite);
        this.kem =
                new Hkdf(crypto, suite.kemHash(), suite.secretLength(), Hkdf.join(Hkdf.ascii("KEM"), two(suite.kem())));
        this.schedule = new Hkdf(
                crypto,
                suite.hash(),
                suite.hashLength(),
                Hkdf.join(Hkdf.ascii("HPKE"), two(suite.kem()), two(suite.kdf()), two(suite.aead())));
        this.gcm = new AesGcm(crypto);
    }

    /** Generates a key pair from getrandom(2). */
    public SealingKey generate() throws KeyException, SecretException {
        try (SecretMemory seed = crypto.secrets().random(suite.scalarLength())) {
            return derive(seed);
        }
    }

    /**
     * Derives the key pair of a random seed that is at least as long as the private key (DeriveKeyPair, RFC 9180,
     * section 7.1.3).
     */
    SealingKey derive(SecretMemory seed) throws KeyException, SecretException {
        try (SecretMemory prk = kem.labeledExtract("dkp_prk", seed)) {
            for (int counter = 0; counter < MAX_CANDIDATES; counter++) {
                byte[] info = {(byte) counter};
                SecretMemory candidate = kem.labeledExpand(prk, "candidate", info, suite.scalarLength());
                try (Loan loan = candidate.lend()) {
                    loan.pointer().putByte(0, (byte) (loan.pointer().getByte(0) & suite.highestByte()));
                }
                try {
                    return key(candidate);
                } catch (KeyException.Malformed e) {
                    // The candidate is zero or too high: try the next one, as the RFC says.
                }
            }
        }
        throw new KeyException.CallFailed("DeriveKeyPair", "no key within " + MAX_CANDIDATES + " candidates");
    }

    /**
     * Returns the key pair of a private key. It takes ownership of {@code scalar} and closes it with the pair or on
     * failure.
     *
     * @throws KeyException.Malformed when {@code scalar} is not a private key of the curve
     */
    SealingKey key(SecretMemory scalar) throws KeyException {
        boolean isOpen = false;
        try {
            SealingKey key = new SealingKey(scalar, SealingPublicKey.of(suite, curve.point(scalar)));
            isOpen = true;
            return key;
        } finally {
            if (!isOpen) {
                scalar.close();
            }
        }
    }

    /** Seals to the holder of the receiver's private key. The result does not identify the sender. */
    public byte[] seal(SealingPublicKey receiver, byte[] info, byte[] aad, SecretMemory secret)
            throws KeyException, SecretException {
        try (SealingKey ephemeral = generate()) {
            return seal(receiver, ephemeral, info, aad, secret);
        }
    }

    byte[] seal(SealingPublicKey receiver, SealingKey ephemeral, byte[] info, byte[] aad, SecretMemory secret)
            throws KeyException, SecretException {
        if (secret.length() > MAX_SECRET) {
            throw new IllegalArgumentException(
                    "sealed key: want a secret of 1 to " + MAX_SECRET + " bytes, have " + secret.length());
        }
        byte[] enc = ephemeral.publicKey().bytes();
        try (SecretMemory shared = shared(ephemeral, receiver, Hkdf.join(enc, receiver.bytes()));
                Keys keys = keys(shared, info)) {
            return Hkdf.join(enc, gcm.seal(keys.key(), keys.nonce(), aad, secret));
        }
    }

    /**
     * Opens a secret that any sender sealed to {@code receiver}.
     *
     * @throws KeyException.Malformed when {@code sealed} has an impossible length or no point of the curve
     * @throws KeyException.Refused when it is not sealed to this key, with this info and additional data
     */
    public SecretMemory open(SealingKey receiver, byte[] info, byte[] aad, byte[] sealed)
            throws KeyException, SecretException {
        int enc = suite.pointLength();
        int overhead = enc + AesGcm.TAG;
        if (sealed.length <= overhead || sealed.length > overhead + MAX_SECRET) {
            throw new KeyException.Malformed(
                    "sealed key",
                    (overhead + 1) + " to " + (overhead + MAX_SECRET) + " bytes",
                    sealed.length + " bytes");
        }
        SealingPublicKey ephemeral = SealingPublicKey.of(suite, Arrays.copyOf(sealed, enc));
        byte[] context = Hkdf.join(ephemeral.bytes(), receiver.publicKey().bytes());
        try (SecretMemory shared = shared(receiver, ephemeral, context);
                Keys keys = keys(shared, info)) {
            return gcm.open(
                    keys.key(),
                    keys.nonce(),
                    aad,
                    Arrays.copyOfRange(sealed, enc, sealed.length),
                    new KeyException.Refused(
                            "sealed key",
                            "one sealed to this key with these additional data",
                            "ask for it to be sealed again"));
        }
    }

    /** Computes the shared secret. Encap and Decap are one computation: ECDH, then ExtractAndExpand. */
    private SecretMemory shared(SealingKey one, SealingPublicKey other, byte[] context)
            throws KeyException, SecretException {
        try (SecretMemory dh = crypto.secrets().allocate(suite.scalarLength())) {
            curve.agree(one.scalar(), other, dh, 0);
            try (SecretMemory prk = kem.labeledExtract("eae_prk", dh)) {
                return kem.labeledExpand(prk, "shared_secret", context, suite.secretLength());
            }
        }
    }

    private record Keys(SecretMemory key, SecretMemory nonce) implements AutoCloseable {
        @Override
        public void close() {
            key.close();
            nonce.close();
        }
    }

    /** Derives key and nonce (KeySchedule, RFC 9180, section 5.1) without a pre-shared key. */
    private Keys keys(SecretMemory shared, byte[] info) throws KeyException, SecretException {
        byte[] context = Hkdf.join(new byte[] {BASE}, hash("psk_id_hash", new byte[0]), hash("info_hash", info));
        try (SecretMemory secret = schedule.labeledExtract(shared, "secret", new byte[0])) {
            SecretMemory key = schedule.labeledExpand(secret, "key", context, suite.keyLength());
            try {
                return new Keys(key, schedule.labeledExpand(secret, "base_nonce", context, AesGcm.NONCE));
            } catch (KeyException | SecretException e) {
                key.close();
                throw e;
            }
        }
    }

    /** Hashes public bytes; the result is public as well. */
    private byte[] hash(String label, byte[] publicBytes) throws KeyException, SecretException {
        try (SecretMemory hash = schedule.labeledExtract(null, label, publicBytes);
                Loan loan = hash.lend()) {
            byte[] bytes = new byte[hash.length()];
            loan.pointer().get(0, bytes, 0, bytes.length);
            return bytes;
        }
    }

    private static byte[] two(int number) {
        return new byte[] {(byte) (number >> 8), (byte) number};
    }
}
