package org.cloister.protocol.audit;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.cloister.base.encoding.Digest;

/** The hash over lines: 32 zero bytes before the first, then SHA-256 over the hash before and the line. */
public final class AuditHashChain {
    /** Before any line. */
    public static final Digest EMPTY = Digest.of(Digest.Algorithm.SHA256, new byte[32]);

    private final MessageDigest sha256;
    private byte[] value;

    /** @param from what the lines before came to */
    public AuditHashChain(Digest from) {
        this.value = from.bytes();
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JRE has no SHA-256", e);
        }
    }

    /** @param line without its end */
    public void add(byte[] line) {
        sha256.update(value);
        value = sha256.digest(line);
    }

    public Digest value() {
        return Digest.of(Digest.Algorithm.SHA256, value);
    }
}
