package org.cloister.protocol.identity;

import java.io.IOException;
import java.util.Arrays;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;
import org.bouncycastle.asn1.x9.X9ObjectIdentifiers;
import org.bouncycastle.crypto.util.PublicKeyFactory;
import org.jspecify.annotations.Nullable;

/** A public key that may be certified: a point of P-384, said by the curve's name (RFC 5480). */
public final class SubjectKey {
    private static final int MAX_BYTES = 200;

    private final SubjectPublicKeyInfo info;

    private SubjectKey(SubjectPublicKeyInfo info) {
        this.info = info;
    }

    /** @param spki SubjectPublicKeyInfo in DER, as {@code PublicKey#getEncoded} has it; from whoever asks */
    public static SubjectKey parse(byte[] spki) throws RefusedException {
        if (spki.length > MAX_BYTES) {
            throw refused(spki.length + " bytes", null);
        }
        try {
            SubjectPublicKeyInfo info = SubjectPublicKeyInfo.getInstance(spki);
            ASN1ObjectIdentifier kind = info.getAlgorithm().getAlgorithm();
            if (!kind.equals(X9ObjectIdentifiers.id_ecPublicKey)
                    || !SECObjectIdentifiers.secp384r1.equals(
                            info.getAlgorithm().getParameters())) {
                throw refused(kind + " " + info.getAlgorithm().getParameters(), null);
            }
            if (!Arrays.equals(info.getEncoded("DER"), spki)) {
                throw refused("other bytes than its DER", null);
            }
            // Throws for a point that is not on the curve.
            PublicKeyFactory.createKey(info);
            return new SubjectKey(info);
        } catch (RefusedException e) {
            throw e;
        } catch (IOException | IllegalArgumentException | IllegalStateException | ClassCastException e) {
            throw refused(String.valueOf(e.getMessage()), e);
        }
    }

    SubjectPublicKeyInfo info() {
        return info;
    }

    private static RefusedException refused(String had, @Nullable Throwable cause) {
        return new RefusedException("public key", "ECDSA P-384 in DER", had, "make a key of secp384r1", cause);
    }
}
