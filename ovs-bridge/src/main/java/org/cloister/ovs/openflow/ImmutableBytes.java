package org.cloister.ovs.openflow;

import java.util.Arrays;
import java.util.HexFormat;

/** Bytes that never change and compare by content. */
final class ImmutableBytes {
    private final byte[] bytes;
    private final int hash;

    /** Takes the array over. */
    ImmutableBytes(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    /** Not to be written to. */
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
