package org.cloister.base.encoding;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Encoder of fields in a fixed order, each preceded by its length in two bytes. Each value has one encoding, as HPKE's
 * info and additional data require.
 */
public final class LengthPrefixedFields {
    private LengthPrefixedFields() {}

    public static byte[] encode(byte[]... fields) {
        int length = 0;
        for (byte[] field : fields) {
            length += Short.BYTES + field.length;
        }
        ByteBuffer encoded = ByteBuffer.allocate(length);
        for (byte[] field : fields) {
            if (field.length > 0xffff) {
                throw new IllegalArgumentException("field: want at most 65535 bytes, have " + field.length);
            }
            encoded.putShort((short) field.length).put(field);
        }
        return encoded.array();
    }

    public static byte[] text(String ascii) {
        return ascii.getBytes(StandardCharsets.US_ASCII);
    }

    public static byte[] number(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(value).array();
    }

    public static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }
}
