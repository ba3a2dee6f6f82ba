package org.cloister.protocol.identity;

import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/** Public key that may be certified: a point of P-384 or P-256, with the curve given by name (RFC 5480). */
public final class SubjectPublicKey {
    private final VerificationKey key;

    private SubjectPublicKey(VerificationKey key) {
        this.key = key;
    }

    /**
     * Parses a public key.
     *
     * @param spki SubjectPublicKeyInfo of P-384 in DER, as {@code PublicKey#getEncoded} returns it; may come from
     *     anyone
     */
    public static SubjectPublicKey parse(byte[] spki) throws CertificationRefusedException {
        try {
            VerificationKey key = VerificationKey.parse(spki);
            if (key.curve() == SignatureCurve.P384) {
                return new SubjectPublicKey(key);
            }
            throw new CertificationRefusedException(
                    "public key", "ECDSA P-384", key.curve().standardName(), "make another key");
        } catch (MalformedException e) {
            throw new CertificationRefusedException(
                    "public key", "ECDSA P-384 in DER", String.valueOf(e.getMessage()), "make a key of secp384r1", e);
        }
    }

    public static SubjectPublicKey of(VerificationKey key) {
        return new SubjectPublicKey(key);
    }

    public VerificationKey key() {
        return key;
    }

    SubjectPublicKeyInfo info() {
        return SubjectPublicKeyInfo.getInstance(key.encoded());
    }
}
