package org.cloister.vm.boot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.util.HexFormat;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootKeys;

/**
 * The two key pairs of one boot, made when agent-vm starts and never written anywhere. The private sealing key is in locked
 * memory and zeroed on close. The private signing key is Java's, for its TLS takes no other: it lives as long as the process.
 */
public final class BootKeyPairs implements AutoCloseable {
    /** SubjectPublicKeyInfo of P-384 up to the uncompressed point (RFC 5480). */
    private static final byte[] BEFORE_POINT =
            HexFormat.of().parseHex("3076301006072a8648ce3d020106052b81040022036200");

    private final KeyPair signing;
    private final SealingKey sealing;
    private final BootKeys shown;

    private BootKeyPairs(KeyPair signing, SealingKey sealing, BootKeys shown) {
        this.signing = signing;
        this.sealing = sealing;
        this.shown = shown;
    }

    /** @param secrets where the private sealing key is kept */
    public static BootKeyPairs make(Secrets secrets, SecureRandom random) throws IOException {
        KeyPair signing = signing(random);
        SealingKey sealing = new Hpke(Crypto.load(secrets)).generate();
        boolean done = false;
        try {
            BootKeys shown = new BootKeys(VerificationKey.of(signing.getPublic()), key(sealing.publicKey()));
            done = true;
            return new BootKeyPairs(signing, sealing, shown);
        } finally {
            if (!done) {
                sealing.close();
            }
        }
    }

    /** What evidence binds this boot to. */
    public BootKeys shown() {
        return shown;
    }

    /** For TLS and signatures of this boot. */
    public PrivateKey signing() {
        return signing.getPrivate();
    }

    /** Opens what was sealed to this boot, until it is closed. */
    public SealingKey sealing() {
        return sealing;
    }

    @Override
    public void close() {
        sealing.close();
    }

    /** The ids of the public keys. */
    @Override
    public String toString() {
        return "BootKeyPairs[signing " + shown.signing() + ", sealing " + shown.sealing() + "]";
    }

    private static KeyPair signing(SecureRandom random) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(Curve.P384.standardName()), random);
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
