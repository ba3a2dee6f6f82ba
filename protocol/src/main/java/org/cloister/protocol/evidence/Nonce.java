package org.cloister.protocol.evidence;

import java.security.SecureRandom;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;

/**
 * Attestation nonce, the verifier's 32 random bytes: evidence that contains it was made after it.
 *
 * @param base64 as statements carry it
 */
public record Nonce(String base64) {
    public static final int BYTES = 32;

    public Nonce {
        if (BinaryText.fromBase64(base64, BYTES).length != BYTES) {
            throw new IllegalArgumentException("nonce: want " + BYTES + " bytes, have fewer");
        }
    }

    public static Nonce random(SecureRandom random) {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return new Nonce(BinaryText.base64(bytes));
    }

    /** Returns the SHA-256, by which records and receipts name the nonce. */
    public Digest digest() {
        return Digest.sha256(BinaryText.fromBase64(base64, BYTES));
    }

    @Override
    public String toString() {
        return base64;
    }
}
