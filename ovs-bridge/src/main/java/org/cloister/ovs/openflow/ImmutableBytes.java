package org.cloister.ovs.openflow;

import java.util.Arrays;
import java.util.HexFormat;

/** Bytes that never change and compare by content. */
final class ImmutableBytes {
    private final byte[] bytes;
    private final int hash;

    /** Takes ownership of the array. */
    ImmutableBytes(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    /** Returns the array, which must not be modified. */
    byte[] array() {
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ImmutableBytes that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
