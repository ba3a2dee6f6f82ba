package org.cloister.protocol.identity;

import java.math.BigInteger;
import java.util.Arrays;

/** Private keys of curves as big-endian bytes of one length. A BigInteger cannot be zeroed: it stays in the heap for a while. */
final class Scalars {
    private Scalars() {}

    static byte[] bytes(BigInteger scalar, int length) {
        byte[] signed = scalar.toByteArray();
        byte[] bytes = new byte[length];
        int from = Math.max(0, signed.length - length);
        System.arraycopy(signed, from, bytes, length - (signed.length - from), signed.length - from);
        Arrays.fill(signed, (byte) 0);
        return bytes;
    }
}
