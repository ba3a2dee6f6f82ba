package org.cloister.protocol.link;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;

/**
 * Token that identifies the circuit of a dial-back. Only the relay and the recipient of the Dial know it; it prints as
 * four bytes.
 */
public final class DialBackToken {
    public static final int BYTES = 32;
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

    private final byte[] bytes;

    private DialBackToken(byte[] bytes) {
        this.bytes = bytes;
    }

    public static DialBackToken random(SecureRandom random) {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return new DialBackToken(bytes);
    }

    public static DialBackToken of(byte[] bytes) throws MalformedException {
        if (bytes.length != BYTES) {
            throw new MalformedException("token: want " + BYTES + " bytes, have " + bytes.length);
        }
        return new DialBackToken(bytes.clone());
    }

    public static DialBackToken parse(String hex) throws MalformedException {
        if (!HEX.matcher(hex).matches()) {
            throw new MalformedException("token: want 64 lower-case hex digits, have " + hex.length() + " characters");
        }
        return new DialBackToken(HexFormat.of().parseHex(hex));
    }

    public byte[] bytes() {
        return bytes.clone();
    }

    public String hex() {
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof DialBackToken token && MessageDigest.isEqual(bytes, token.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return hex().substring(0, 8) + "...";
    }
}
