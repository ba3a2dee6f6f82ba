package org.cloister.protocol.identity;

import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.VerificationKey;

/** A public key that may be certified: a point of P-384 or P-256, said by the curve's name (RFC 5480). */
public final class SubjectKey {
    private final VerificationKey key;

    private SubjectKey(VerificationKey key) {
        this.key = key;
    }

    /** @param spki SubjectPublicKeyInfo of P-384 in DER, as {@code PublicKey#getEncoded} has it; from whoever asks */
    public static SubjectKey parse(byte[] spki) throws RefusedException {
        try {
            VerificationKey key = VerificationKey.parse(spki);
            if (key.curve() == Curve.P384) {
                return new SubjectKey(key);
            }
            throw new RefusedException("public key", "ECDSA P-384", key.curve().standardName(), "make another key");
        } catch (MalformedException e) {
            throw new RefusedException(
                    "public key", "ECDSA P-384 in DER", String.valueOf(e.getMessage()), "make a key of secp384r1", e);
        }
    }

    public static SubjectKey of(VerificationKey key) {
        return new SubjectKey(key);
    }

    public VerificationKey key() {
        return key;
    }

    SubjectPublicKeyInfo info() {
        return SubjectPublicKeyInfo.getInstance(key.encoded());
    }
}
