package org.cloister.protocol.identity;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Secret with which one machine enrols once: a private key of P-256, of which the CA's machine stores the public half;
 * docs/protocol.md, section 6. It is in the heap from its creation to {@link #close}; copies that the runtime's
 * cryptography made stay until the collector overwrites them, so use it in a program that ends soon.
 */
public final class EnrolmentToken implements AutoCloseable {
    private static final byte[] PREFIX = "cloister-token-1:".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LABEL = "cloister enrolment 1\0".getBytes(StandardCharsets.US_ASCII);
    private static final SignatureCurve CURVE = SignatureCurve.P256;
    private static final String SIGNATURE = "SHA256withECDSA";
    private static final int LENGTH = 32;
    /** Length of its text in bytes. */
    private static final int TEXT = PREFIX.length + 2 * LENGTH;
    /** Limit in bytes of a file with a token, which may end with a line feed. */
    public static final int MAX_TEXT = TEXT + 1;

    private final byte[] secret;

    private EnrolmentToken(byte[] secret) {
        this.secret = secret;
    }

    /** Token, with the public half that the CA's machine stores. */
    public record NewToken(EnrolmentToken token, VerificationKey publicHalf) {}

    public static NewToken make(SecureRandom random) throws MalformedException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(CURVE.standardName()), random);
            KeyPair pair = generator.generateKeyPair();
            byte[] secret = PrivateScalar.bytes(((ECPrivateKey) pair.getPrivate()).getS(), LENGTH);
            return new NewToken(new EnrolmentToken(secret), VerificationKey.of(pair.getPublic()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + CURVE.standardName(), e);
        }
    }

    /**
     * Parses a token.
     *
     * @param text as {@link #text} writes it, possibly with a line feed; the caller zeroes it
     */
    public static EnrolmentToken parse(byte[] text) throws MalformedException {
        int end = text.length == MAX_TEXT && text[TEXT] == '\n' ? TEXT : text.length;
        boolean holds = end == TEXT && Arrays.equals(text, 0, PREFIX.length, PREFIX, 0, PREFIX.length);
        byte[] secret = new byte[LENGTH];
        for (int i = 0; holds && i < LENGTH; i++) {
            int high = digit(text[PREFIX.length + 2 * i]);
            int low = digit(text[PREFIX.length + 2 * i + 1]);
            holds = high >= 0 && low >= 0;
            secret[i] = (byte) (high << 4 | low);
        }
        if (!holds) {
            Arrays.fill(secret, (byte) 0);
            // The text omits the input, which may be a token with one wrong character.
            throw new MalformedException("enrolment token: want " + new String(PREFIX, StandardCharsets.US_ASCII)
                    + " and " + 2 * LENGTH + " hex digits, have something else");
        }
        return new EnrolmentToken(secret);
    }

    /** Returns the token for a file that only the machine's root may read; the caller zeroes it. */
    public byte[] text() {
        byte[] text = Arrays.copyOf(PREFIX, TEXT);
        for (int i = 0; i < LENGTH; i++) {
            text[PREFIX.length + 2 * i] = DIGITS[secret[i] >> 4 & 0xf];
            text[PREFIX.length + 2 * i + 1] = DIGITS[secret[i] & 0xf];
        }
        return text;
    }

    /** Returns the token's private key, for the handshake with which its holder joins. */
    public PrivateKey privateKey() throws MalformedException {
        try {
            return PrivateScalar.privateKey(CURVE, secret);
        } catch (GeneralSecurityException e) {
            throw notAKey(e);
        }
    }

    /** Returns the proof that the token's holder made the request, so that no one on the path can replace it. */
    byte[] proof(byte[] request) throws MalformedException {
        try {
            Signature signer = Signature.getInstance(SIGNATURE);
            signer.initSign(privateKey());
            signer.update(proven(request));
            return signer.sign();
        } catch (GeneralSecurityException e) {
            throw notAKey(e);
        }
    }

    /** The scalar is zero, or above the curve's order. */
    private static MalformedException notAKey(GeneralSecurityException e) {
        return new MalformedException(
                "enrolment token: want a private key of " + CURVE.standardName() + ", have something else", e);
    }

    static byte[] proven(byte[] request) {
        byte[] proven = Arrays.copyOf(LABEL, LABEL.length + request.length);
        System.arraycopy(request, 0, proven, LABEL.length, request.length);
        return proven;
    }

    @Override
    public void close() {
        Arrays.fill(secret, (byte) 0);
    }

    @Override
    public String toString() {
        return "enrolment token";
    }

    private static int digit(byte character) {
        if (character >= '0' && character <= '9') {
            return character - '0';
        }
        return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
    }
}
