package org.cloister.base.encoding;

import java.util.Arrays;
import java.util.Base64;

/**
 * Bytes as text (RFC 4648), each in one spelling only: decoding accepts only what encoding would write. For public
 * bytes only, since its run time depends on them.
 */
public final class BinaryText {
    private static final String BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
    private static final int BITS = 5;

    private BinaryText() {}

    /** Encodes as base64 with padding (section 4). */
    public static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /**
     * Decodes base64.
     *
     * @param max bytes; longer text is refused undecoded
     * @throws IllegalArgumentException if {@link #base64} would write it otherwise
     */
    public static byte[] fromBase64(String text, int max) {
        requireLength(text, (max + 2L) / 3 * 4, max);
        byte[] bytes = Base64.getDecoder().decode(text);
        if (bytes.length > max || !base64(bytes).equals(text)) {
            throw new IllegalArgumentException("want at most " + max + " bytes in base64 with padding, have "
                    + bytes.length + " in another spelling or more");
        }
        return bytes;
    }

    /** Encodes as base32 in lower case and without padding, for names and ids (section 6). */
    public static String base32(byte[] bytes) {
        StringBuilder text = new StringBuilder((bytes.length * 8 + BITS - 1) / BITS);
        int buffer = 0;
        int held = 0;
        for (byte each : bytes) {
            buffer = (buffer << 8) | (each & 0xff);
            held += 8;
            while (held >= BITS) {
                held -= BITS;
                text.append(BASE32.charAt((buffer >> held) & 31));
            }
            buffer &= (1 << held) - 1;
        }
        if (held > 0) {
            text.append(BASE32.charAt((buffer << (BITS - held)) & 31));
        }
        return text.toString();
    }

    /**
     * Decodes base32.
     *
     * @param max bytes; longer text is refused undecoded
     * @throws IllegalArgumentException if {@link #base32} would write it otherwise
     */
    public static byte[] fromBase32(String text, int max) {
        requireLength(text, (max * 8L + BITS - 1) / BITS, max);
        byte[] bytes = new byte[text.length() * BITS / 8];
        int buffer = 0;
        int held = 0;
        int at = 0;
        for (int i = 0; i < text.length(); i++) {
            int value = BASE32.indexOf(text.charAt(i));
            if (value < 0) {
                throw new IllegalArgumentException("want base32 in lower case, have another character at " + i);
            }
            buffer = ((buffer << BITS) | value) & 0xfff;
            held += BITS;
            if (held >= 8) {
                held -= 8;
                bytes[at++] = (byte) (buffer >> held);
            }
        }
        if (!base32(bytes).equals(text)) {
            throw new IllegalArgumentException("want base32 of whole bytes without padding, have bits left over");
        }
        return Arrays.copyOf(bytes, at);
    }

    private static void requireLength(String text, long characters, int max) {
        if (text.length() > characters) {
            throw new IllegalArgumentException(
                    "want at most " + max + " bytes in " + characters + " characters, have " + text.length());
        }
    }
}
