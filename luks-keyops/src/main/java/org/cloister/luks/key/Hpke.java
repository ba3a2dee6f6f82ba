package org.cloister.luks.key;

import java.util.Arrays;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;
import org.jspecify.annotations.Nullable;

/**
 * HPKE (RFC 9180), one message a context, in base and auth mode: DHKEM(P-384, HKDF-SHA384), HKDF-SHA384, AES-256-GCM.
 * What is sealed is {@code enc || ct}, 97 + length + 16 bytes. Private keys, shared secrets, derived keys and what is
 * opened lie in secret memory only.
 */
public final class Hpke {
    /** The longest secret that is sealed, in bytes: a munge key at its longest has 1,024. */
    public static final int MAX_SECRET = 4096;

    private static final byte[] NO_DATA = {};
    private static final byte BASE = 0;
    private static final byte AUTH = 2;
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

    /** A key pair from getrandom(2). */
    public SealingKey generate() throws KeyException, SecretException {
        try (SecretMemory seed = crypto.secrets().random(suite.scalarLength())) {
            return derive(seed);
        }
    }

    /** DeriveKeyPair, section 7.1.3: the key pair of a random seed at least as long as the private key. */
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
                    // Zero or too high: the next one, as the RFC says.
                }
            }
        }
        throw new KeyException.CallFailed("DeriveKeyPair", "no key within " + MAX_CANDIDATES + " candidates");
    }

    /**
     * The key pair of a private key, which this takes over: it is closed with the pair, or when it is none.
     *
     * @throws KeyException.Malformed when it is no private key of the curve
     */
    SealingKey key(SecretMemory scalar) throws KeyException {
        boolean taken = false;
        try {
            SealingKey key = new SealingKey(scalar, SealingPublicKey.of(suite, curve.point(scalar)));
            taken = true;
            return key;
        } finally {
            if (!taken) {
                scalar.close();
            }
        }
    }

    /** Seals to whoever has the receiver's private key. Nothing says who sealed. */
    public byte[] seal(SealingPublicKey receiver, byte[] info, byte[] aad, SecretMemory secret)
            throws KeyException, SecretException {
        try (SealingKey ephemeral = generate()) {
            return seal(receiver, ephemeral, null, info, aad, secret);
        }
    }

    /** Seals a key to a VM of this boot, for one use. Who sealed, the circuit says that it comes by. */
    public byte[] seal(SealingPublicKey receiver, BootKeyContext context, SecretMemory secret)
            throws KeyException, SecretException {
        return seal(receiver, context.info(), NO_DATA, secret);
    }

    /** Opens what was sealed to this VM of this boot, for this use and no other; otherwise as {@link #open} does. */
    public SecretMemory open(SealingKey receiver, BootKeyContext context, byte[] sealed)
            throws KeyException, SecretException {
        return open(receiver, null, context.info(), NO_DATA, sealed);
    }

    /** Seals as {@code sender}: only that private key, or the receiver's own, makes what opens. */
    public byte[] sealAs(SealingKey sender, SealingPublicKey receiver, byte[] info, byte[] aad, SecretMemory secret)
            throws KeyException, SecretException {
        try (SealingKey ephemeral = generate()) {
            return seal(receiver, ephemeral, sender, info, aad, secret);
        }
    }

    /**
     * Opens what anybody sealed to {@code receiver}.
     *
     * @throws KeyException.Malformed when {@code sealed} has no possible length or no point of the curve
     * @throws KeyException.Refused when it is not sealed to this key, with this info and additional data
     */
    public SecretMemory open(SealingKey receiver, byte[] info, byte[] aad, byte[] sealed)
            throws KeyException, SecretException {
        return open(receiver, null, info, aad, sealed);
    }

    /** Opens what {@code sender} sealed, as {@link #open} does; what another sealed is refused. */
    public SecretMemory openFrom(SealingPublicKey sender, SealingKey receiver, byte[] info, byte[] aad, byte[] sealed)
            throws KeyException, SecretException {
        return open(receiver, sender, info, aad, sealed);
    }

    byte[] seal(
            SealingPublicKey receiver,
            SealingKey ephemeral,
            @Nullable SealingKey sender,
            byte[] info,
            byte[] aad,
            SecretMemory secret)
            throws KeyException, SecretException {
        if (secret.length() > MAX_SECRET) {
            throw new IllegalArgumentException(
                    "sealed key: want a secret of 1 to " + MAX_SECRET + " bytes, have " + secret.length());
        }
        byte[] enc = ephemeral.publicKey().bytes();
        SealingPublicKey from = sender == null ? null : sender.publicKey();
        try (SecretMemory shared = shared(ephemeral, receiver, sender, receiver, context(enc, receiver, from));
                Keys keys = keys(sender == null ? BASE : AUTH, shared, info)) {
            return Hkdf.join(enc, gcm.seal(keys.key(), keys.nonce(), aad, secret));
        }
    }

    private SecretMemory open(
            SealingKey receiver, @Nullable SealingPublicKey sender, byte[] info, byte[] aad, byte[] sealed)
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
        byte[] context = context(ephemeral.bytes(), receiver.publicKey(), sender);
        try (SecretMemory shared = shared(receiver, ephemeral, sender == null ? null : receiver, sender, context);
                Keys keys = keys(sender == null ? BASE : AUTH, shared, info)) {
            return gcm.open(
                    keys.key(),
                    keys.nonce(),
                    aad,
                    Arrays.copyOfRange(sealed, enc, sealed.length),
                    new KeyException.Refused(
                            "sealed key",
                            "one sealed to this key with these additional data"
                                    + (sender == null ? "" : " by this sender"),
                            "ask for it to be sealed again"));
        }
    }

    /** Encap and Decap, AuthEncap and AuthDecap are one computation: ECDH once or twice, then ExtractAndExpand. */
    private SecretMemory shared(
            SealingKey one,
            SealingPublicKey other,
            @Nullable SealingKey authOne,
            @Nullable SealingPublicKey authOther,
            byte[] context)
            throws KeyException, SecretException {
        boolean auth = authOne != null && authOther != null;
        try (SecretMemory dh = crypto.secrets().allocate(suite.scalarLength() * (auth ? 2 : 1))) {
            curve.agree(one.scalar(), other, dh, 0);
            if (authOne != null && authOther != null) {
                curve.agree(authOne.scalar(), authOther, dh, suite.scalarLength());
            }
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

    /** KeySchedule, section 5.1, without pre-shared key. */
    private Keys keys(byte mode, SecretMemory shared, byte[] info) throws KeyException, SecretException {
        byte[] context = Hkdf.join(new byte[] {mode}, hash("psk_id_hash", new byte[0]), hash("info_hash", info));
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

    /** Of what is no secret, so the result is none. */
    private byte[] hash(String label, byte[] publicBytes) throws KeyException, SecretException {
        try (SecretMemory hash = schedule.labeledExtract(null, label, publicBytes);
                Loan loan = hash.lend()) {
            byte[] bytes = new byte[hash.length()];
            loan.pointer().get(0, bytes, 0, bytes.length);
            return bytes;
        }
    }

    private static byte[] context(byte[] enc, SealingPublicKey receiver, @Nullable SealingPublicKey sender) {
        return Hkdf.join(enc, receiver.bytes(), sender == null ? new byte[0] : sender.bytes());
    }

    private static byte[] two(int number) {
        return new byte[] {(byte) (number >> 8), (byte) number};
    }
}
