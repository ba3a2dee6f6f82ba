package org.cloister.vm.boot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.HexFormat;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootPublicKeys;

/**
 * The two key pairs of one boot, made when agent-vm starts and never written anywhere. The private sealing key is in
 * locked memory and zeroed on close. The private signing key is a Java key, since Java's TLS accepts no other: it lives
 * as long as the process.
 */
public final class BootKeyPairs implements AutoCloseable {
    /** SubjectPublicKeyInfo of P-384 up to the uncompressed point (RFC 5480). */
    private static final byte[] BEFORE_POINT =
            HexFormat.of().parseHex("3076301006072a8648ce3d020106052b81040022036200");

    private static final byte[] NO_DATA = {};

    private final KeyPair signing;
    private final Hpke hpke;
    private final SealingKey sealing;
    private final BootPublicKeys publicKeys;

    private BootKeyPairs(KeyPair signing, Hpke hpke, SealingKey sealing, BootPublicKeys publicKeys) {
        this.signing = signing;
        this.hpke = hpke;
        this.sealing = sealing;
        this.publicKeys = publicKeys;
    }

    /**
     * Generates both key pairs.
     *
     * @param secrets allocates the memory of the private sealing key
     */
    public static BootKeyPairs generate(SecretAllocator secrets, SecureRandom random) throws IOException {
        KeyPair signing = signing(random);
        Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
        SealingKey sealing = hpke.generate();
        boolean done = false;
        try {
            BootPublicKeys publicKeys =
                    new BootPublicKeys(VerificationKey.of(signing.getPublic()), key(sealing.publicKey()));
            done = true;
            return new BootKeyPairs(signing, hpke, sealing, publicKeys);
        } finally {
            if (!done) {
                sealing.close();
            }
        }
    }

    /** Returns the public keys to which evidence binds this boot. */
    public BootPublicKeys publicKeys() {
        return publicKeys;
    }

    /** Returns the private key for TLS and signatures of this boot. */
    public PrivateKey signing() {
        return signing.getPrivate();
    }

    /** Returns the key that opens secrets sealed to this boot; it is usable until this object is closed. */
    public SealingKey sealing() {
        return sealing;
    }

    /** Returns the signing key for signed objects of this boot. */
    public SigningKey signer() throws IOException {
        return SigningKey.of(signing);
    }

    /** Returns a copy of the private signing key in PKCS#8, for charon; the caller closes it. */
    public SecretMemory signing(SecretAllocator secrets) throws IOException {
        byte[] pkcs8 = signing.getPrivate().getEncoded();
        try {
            SecretMemory copy = secrets.allocate(pkcs8.length);
            try (SecretMemory.Loan loan = copy.lend()) {
                loan.pointer().put(0, pkcs8, 0, pkcs8.length);
            }
            return copy;
        } finally {
            Arrays.fill(pkcs8, (byte) 0);
        }
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
    }

    /** Returns the ids of the public keys. */
    @Override
    public String toString() {
        return "BootKeyPairs[signing " + publicKeys.signing() + ", sealing " + publicKeys.sealing() + "]";
    }

    private static KeyPair signing(SecureRandom random) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(SignatureCurve.P384.standardName()), random);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no P-384", e);
        }
    }

    private static VerificationKey key(SealingPublicKey sealing) throws IOException {
        ByteArrayOutputStream spki = new ByteArrayOutputStream();
        spki.writeBytes(BEFORE_POINT);
        spki.writeBytes(sealing.bytes());
        return VerificationKey.parse(spki.toByteArray());
    }
}
