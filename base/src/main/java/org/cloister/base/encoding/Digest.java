package org.cloister.base.encoding;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.cloister.base.json.StrictJson;

/**
 * A public digest in lower-case hex. Not for secrets: it is compared and printed freely.
 *
 * @param algorithm with which it was computed
 * @param hex two digits a byte, lower case
 */
public record Digest(Algorithm algorithm, String hex) {

    /** The digests that Cloister's formats use. */
    public enum Algorithm {
        /** Used for dm-verity's root hashes, and for ids. */
        SHA256("SHA-256", 32),
        /** Used for everything else. */
        SHA384("SHA-384", 48);

        private final String javaName;
        private final int bytes;

        Algorithm(String javaName, int bytes) {
            this.javaName = javaName;
            this.bytes = bytes;
        }

        MessageDigest start() {
            try {
                return MessageDigest.getInstance(javaName);
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("this JRE has no " + javaName, e);
            }
        }
    }

    private static final int READ_BYTES = 1 << 18;
    /** Length up to which a malformed digest is shown whole, so that a digest of another kind can be recognised. */
    private static final int LONGEST_QUOTED = 128;

    public Digest {
        if (hex.length() != 2 * algorithm.bytes || !hex.chars().allMatch(Digest::isLowerHex)) {
            throw new IllegalArgumentException(algorithm.javaName + " digest: want " + 2 * algorithm.bytes
                    + " lower-case hex digits, have "
                    + (hex.length() > LONGEST_QUOTED ? StrictJson.quoted(hex) : StrictJson.literal(hex)));
        }
    }

    public static Digest sha256(byte[] bytes) {
        return of(Algorithm.SHA256, Algorithm.SHA256.start().digest(bytes));
    }

    public static Digest sha384(byte[] bytes) {
        return of(Algorithm.SHA384, Algorithm.SHA384.start().digest(bytes));
    }

    public static Digest sha384(String text) {
        return sha384(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Reads the whole file, a piece at a time. */
    public static Digest sha384(Path file) throws IOException {
        MessageDigest digest = Algorithm.SHA384.start();
        byte[] piece = new byte[READ_BYTES];
        try (InputStream in = Files.newInputStream(file)) {
            for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
                digest.update(piece, 0, n);
            }
        }
        return of(Algorithm.SHA384, digest.digest());
    }

    public byte[] bytes() {
        return HexFormat.of().parseHex(hex);
    }

    /** Returns the first eight digits: enough to tell two images apart in a table. */
    public String abbreviated() {
        return hex.substring(0, 8);
    }

    @Override
    public String toString() {
        return hex;
    }

    public static Digest of(Algorithm algorithm, byte[] bytes) {
        return new Digest(algorithm, HexFormat.of().formatHex(bytes));
    }

    private static boolean isLowerHex(int c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    }
}
