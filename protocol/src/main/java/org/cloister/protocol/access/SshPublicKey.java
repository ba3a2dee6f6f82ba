package org.cloister.protocol.access;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Public key on P-384 as OpenSSH writes it in known_hosts and authorized_keys, without host or comment:
 * {@code ecdsa-sha2-nistp384} and RFC 5656's blob in base64.
 */
public record SshPublicKey(String blob) {
    public static final String KIND = "ecdsa-sha2-nistp384";

    private static final Pattern LINE = Pattern.compile(KIND + " ([A-Za-z0-9+/]{182}==)");
    /** Three lengths, the kind, the curve, an uncompressed point. */
    private static final String HEAD =
            HexFormat.of().formatHex(field(KIND)) + HexFormat.of().formatHex(field("nistp384")) + "0000006104";

    private static final int POINT = 97;

    /** @throws IllegalArgumentException if the blob is not a key on P-384 */
    public SshPublicKey {
        if (!LINE.matcher(KIND + " " + blob).matches()
                || !HexFormat.of().formatHex(Base64.getDecoder().decode(blob)).startsWith(HEAD)) {
            throw new IllegalArgumentException(
                    "ssh key: want one line of " + KIND + ", have " + blob.length() + " other characters");
        }
    }

    /**
     * Parses a key as OpenSSH writes it.
     *
     * @throws MalformedException if the line is not a key, or the key is on another curve
     */
    public static SshPublicKey parse(String line) throws MalformedException {
        Matcher matcher = LINE.matcher(line);
        if (!matcher.matches()) {
            throw new MalformedException(
                    "ssh key: want one line of " + KIND + ", have " + line.length() + " other characters");
        }
        try {
            return new SshPublicKey(matcher.group(1));
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Converts a key, such as a certificate's, to OpenSSH's form. */
    public static SshPublicKey of(VerificationKey key) {
        byte[] spki = key.encoded();
        ByteArrayOutputStream blob = new ByteArrayOutputStream();
        blob.writeBytes(HexFormat.of().parseHex(HEAD));
        // SubjectPublicKeyInfo ends with the point; its first byte means "uncompressed" and is part of HEAD.
        blob.write(spki, spki.length - POINT + 1, POINT - 1);
        return new SshPublicKey(Base64.getEncoder().encodeToString(blob.toByteArray()));
    }

    private static byte[] field(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        ByteArrayOutputStream field = new ByteArrayOutputStream();
        field.writeBytes(new byte[] {0, 0, 0, (byte) bytes.length});
        field.writeBytes(bytes);
        return field.toByteArray();
    }

    /** Returns the key as OpenSSH writes it. */
    @Override
    public String toString() {
        return KIND + " " + blob;
    }
}
