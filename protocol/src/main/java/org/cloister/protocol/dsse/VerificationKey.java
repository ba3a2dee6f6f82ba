package org.cloister.protocol.dsse;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECFieldFp;
import java.security.spec.ECPoint;
import java.security.spec.EllipticCurve;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Optional;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;

/**
 * Public key that verifies ECDSA signatures: P-384 with SHA-384 or P-256 with SHA-256, as its curve determines. Keys
 * have one encoding; two objects are equal if they are the same key.
 */
public final class VerificationKey {
    /** Characters of an id. */
    public static final int ID_LENGTH = 52;

    /** Limit in bytes; the SubjectPublicKeyInfo of P-384 has 120. */
    private static final int MAX_BYTES = 128;

    private final SignatureCurve curve;
    private final ECPublicKey key;
    private final byte[] spki;
    private final String id;

    private VerificationKey(SignatureCurve curve, ECPublicKey key, byte[] spki) {
        this.curve = curve;
        this.key = key;
        this.spki = spki;
        this.id = BinaryText.base32(sha256(spki));
    }

    /**
     * Parses a key and checks that its point is on its curve.
     *
     * @param spki SubjectPublicKeyInfo in DER with a named curve and an uncompressed point (RFC 5480)
     */
    public static VerificationKey parse(byte[] spki) throws MalformedException {
        if (spki.length > MAX_BYTES) {
            throw new MalformedException("public key: want at most " + MAX_BYTES + " bytes, have " + spki.length);
        }
        try {
            PublicKey key = KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(spki));
            if (key instanceof ECPublicKey ec) {
                Optional<SignatureCurve> curve = SignatureCurve.of(ec.getParams());
                if (curve.isPresent() && Arrays.equals(key.getEncoded(), spki) && isOnCurve(ec)) {
                    return new VerificationKey(curve.get(), ec, spki.clone());
                }
            }
        } catch (GeneralSecurityException e) {
            throw new MalformedException("public key: not a SubjectPublicKeyInfo: " + e.getMessage(), e);
        }
        throw new MalformedException("public key: want ECDSA P-384 or P-256 in DER, uncompressed, have another");
    }

    /**
     * Converts a key of the runtime.
     *
     * @throws MalformedException if the key is of another kind
     */
    public static VerificationKey of(PublicKey key) throws MalformedException {
        byte[] spki = key.getEncoded();
        if (spki == null) {
            throw new MalformedException("public key: want one with an encoding, have " + key.getAlgorithm());
        }
        return parse(spki);
    }

    /** Returns the SHA-256 of the SubjectPublicKeyInfo, in base32. */
    public String id() {
        return id;
    }

    public SignatureCurve curve() {
        return curve;
    }

    /** Returns the SubjectPublicKeyInfo in DER. */
    public byte[] encoded() {
        return spki.clone();
    }

    public PublicKey publicKey() {
        return key;
    }

    /**
     * Returns whether this key signed the message.
     *
     * @param signature ECDSA-Sig-Value in DER (RFC 3279 section 2.2.3); other bytes never verify
     */
    public boolean verifies(byte[] message, byte[] signature) {
        try {
            Signature verifier = Signature.getInstance(curve.signature());
            verifier.initVerify(key);
            verifier.update(message);
            return verifier.verify(signature);
        } catch (SignatureException e) {
            return false;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + curve.signature(), e);
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof VerificationKey that && Arrays.equals(spki, that.spki);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(spki);
    }

    @Override
    public String toString() {
        return id;
    }

    /**
     * Returns whether the point is on its curve. The runtime does not check that before it verifies; the curves have
     * cofactor 1, so this check is enough.
     */
    private static boolean isOnCurve(ECPublicKey key) {
        ECPoint point = key.getW();
        EllipticCurve curve = key.getParams().getCurve();
        if (point.equals(ECPoint.POINT_INFINITY) || !(curve.getField() instanceof ECFieldFp field)) {
            return false;
        }
        BigInteger p = field.getP();
        BigInteger x = point.getAffineX();
        BigInteger y = point.getAffineY();
        BigInteger right = x.pow(3).add(curve.getA().multiply(x)).add(curve.getB());
        return x.compareTo(p) < 0
                && y.compareTo(p) < 0
                && y.multiply(y).subtract(right).mod(p).signum() == 0;
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JRE has no SHA-256", e);
        }
    }
}
