package org.cloister.protocol.audit;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.cloister.base.encoding.Digest;

/** Hash over lines: 32 zero bytes before the first line, then SHA-256 over the previous hash and the line. */
public final class AuditHashChain {
    /** The hash before any line. */
    public static final Digest EMPTY = Digest.of(Digest.Algorithm.SHA256, new byte[32]);

    private final MessageDigest sha256;
    private byte[] value;

    /**
     * Continues a chain.
     *
     * @param from the hash over the lines before
     */
    public AuditHashChain(Digest from) {
        this.value = from.bytes();
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JRE has no SHA-256", e);
        }
    }

    /**
     * Adds a line to the chain.
     *
     * @param line without its line feed
     */
    public void add(byte[] line) {
        sha256.update(value);
        value = sha256.digest(line);
    }

    public Digest value() {
        return Digest.of(Digest.Algorithm.SHA256, value);
    }
}
