package org.cloister.luks.key;

import java.util.Arrays;
import java.util.HexFormat;

/**
 * Public key of a recipient of sealed keys: a point of P-384, uncompressed (SEC 1: 4, x, y), of the right length and
 * prefix.
 */
public final class SealingPublicKey {
    /** Length in bytes. */
    public static final int LENGTH = HpkeSuite.P384.pointLength();

    private static final byte UNCOMPRESSED = 4;

    private final byte[] point;

    private SealingPublicKey(byte[] point) {
        this.point = point;
    }

    /**
     * Checks length and prefix. Whether the point is on the curve is checked when a secret is sealed to it, or one
     * sealed by it is opened.
     */
    public static SealingPublicKey of(byte[] point) throws KeyException.Malformed {
        return of(HpkeSuite.P384, point);
    }

    static SealingPublicKey of(HpkeSuite suite, byte[] point) throws KeyException.Malformed {
        if (point.length != suite.pointLength() || point[0] != UNCOMPRESSED) {
            throw new KeyException.Malformed(
                    "public key",
                    suite.pointLength() + " bytes of an uncompressed point, beginning with 04",
                    point.length + " bytes" + (point.length == 0 ? "" : ", beginning with " + hex(point, 1)));
        }
        return new SealingPublicKey(point.clone());
    }

    public byte[] bytes() {
        return point.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SealingPublicKey key && Arrays.equals(point, key.point);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(point);
    }

    /** Returns the first four bytes of x. */
    @Override
    public String toString() {
        return "SealingPublicKey[" + hex(Arrays.copyOfRange(point, 1, 5), 4) + "]";
    }

    private static String hex(byte[] bytes, int count) {
        return HexFormat.of().formatHex(bytes, 0, count);
    }
}
