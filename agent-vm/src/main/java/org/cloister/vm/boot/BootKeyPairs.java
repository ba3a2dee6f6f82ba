package org.cloister.vm.boot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.PrivateKey;
import java.util.HexFormat;
import java.util.Optional;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.P384KeyPair;
import org.cloister.luks.key.P384Provider;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootPublicKeys;

/**
 * The two key pairs of one boot, made when agent-vm starts and never written anywhere. The private sealing key is in
 * locked memory, and the private signing key on libcrypto's secure heap; both are zeroed on close.
 */
public final class BootKeyPairs implements AutoCloseable {
    /** SubjectPublicKeyInfo of P-384 up to the uncompressed point (RFC 5480). */
    private static final byte[] BEFORE_POINT =
            HexFormat.of().parseHex("3076301006072a8648ce3d020106052b81040022036200");

    private static final byte[] NO_DATA = {};

    private final P384KeyPair signing;
    private final Hpke hpke;
    private final SealingKey sealing;
    private final BootPublicKeys publicKeys;

    private BootKeyPairs(P384KeyPair signing, Hpke hpke, SealingKey sealing, BootPublicKeys publicKeys) {
        this.signing = signing;
        this.hpke = hpke;
        this.sealing = sealing;
        this.publicKeys = publicKeys;
    }

    /**
     * Generates both key pairs. From now on signatures with P-384 are libcrypto's in this process.
     *
     * @param secrets allocates the memory of the private sealing key
     */
    public static BootKeyPairs generate(SecretAllocator secrets) throws IOException {
        LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
        P384Provider.install(crypto);
        Hpke hpke = new Hpke(crypto);
        SealingKey sealing = hpke.generate();
        Optional<P384KeyPair> signing = Optional.empty();
        boolean done = false;
        try {
            signing = Optional.of(P384KeyPair.generate(crypto));
            BootPublicKeys publicKeys =
                    new BootPublicKeys(VerificationKey.of(signing.get().pair().getPublic()), key(sealing.publicKey()));
            done = true;
            return new BootKeyPairs(signing.get(), hpke, sealing, publicKeys);
        } finally {
            if (!done) {
                sealing.close();
                signing.ifPresent(P384KeyPair::close);
            }
        }
    }

    /** Returns the public keys to which evidence binds this boot. */
    public BootPublicKeys publicKeys() {
        return publicKeys;
    }

    /** Returns the private key for TLS and signatures of this boot. */
    public PrivateKey signing() {
        return signing.pair().getPrivate();
    }

    /** Returns the key that opens secrets sealed to this boot; it is usable until this object is closed. */
    public SealingKey sealing() {
        return sealing;
    }

    /** Returns the signing key for signed objects of this boot. */
    public SigningKey signer() throws IOException {
        return SigningKey.of(signing.pair());
    }

    /** Returns a copy of the private signing key in PKCS#8, for charon; the caller closes it. */
    public SecretMemory signingPkcs8() throws IOException {
        return signing.pkcs8();
    }

    /**
     * Opens a secret that was sealed to this boot; possible until this object is closed.
     *
     * @param info the purpose for which it was sealed
     * @throws IOException if it was sealed to another key or for another purpose
     */
    public SecretMemory open(byte[] info, byte[] sealed) throws IOException {
        return hpke.open(sealing, info, NO_DATA, sealed);
    }

    @Override
    public void close() {
        sealing.close();
        signing.close();
    }

    /** Returns the ids of the public keys. */
    @Override
    public String toString() {
        return "BootKeyPairs[signing " + publicKeys.signing() + ", sealing " + publicKeys.sealing() + "]";
    }

    private static VerificationKey key(SealingPublicKey sealing) throws IOException {
        ByteArrayOutputStream spki = new ByteArrayOutputStream();
        spki.writeBytes(BEFORE_POINT);
        spki.writeBytes(sealing.bytes());
        return VerificationKey.parse(spki.toByteArray());
    }
}
