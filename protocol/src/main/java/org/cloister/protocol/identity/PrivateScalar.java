package org.cloister.protocol.identity;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.ECPrivateKeySpec;
import java.util.Arrays;
import org.cloister.protocol.dsse.SignatureCurve;

/**
 * Converts private keys of curves to and from big-endian bytes of a fixed length. A BigInteger cannot be zeroed: it
 * stays in the heap for a while.
 */
final class PrivateScalar {
    private PrivateScalar() {}

    static byte[] bytes(BigInteger scalar, int length) {
        byte[] signed = scalar.toByteArray();
        byte[] bytes = new byte[length];
        int from = Math.max(0, signed.length - length);
        System.arraycopy(signed, from, bytes, length - (signed.length - from), signed.length - from);
        Arrays.fill(signed, (byte) 0);
        return bytes;
    }

    /**
     * Creates a private key.
     *
     * @param scalar the caller zeroes it
     */
    static PrivateKey privateKey(SignatureCurve curve, byte[] scalar) throws GeneralSecurityException {
        return KeyFactory.getInstance("EC")
                .generatePrivate(new ECPrivateKeySpec(new BigInteger(1, scalar), curve.parameters()));
    }
}
