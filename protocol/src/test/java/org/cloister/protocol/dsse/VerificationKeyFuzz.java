package org.cloister.protocol.dsse;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;

/** Any bytes as a key give one with the very same encoding, or a refusal. */
class VerificationKeyFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_keys(byte[] bytes) {
        try {
            VerificationKey key = VerificationKey.parse(bytes);
            if (!Arrays.equals(key.encoded(), bytes)) {
                throw new IllegalStateException("a key with two encodings");
            }
            if (key.verifies(bytes, bytes)) {
                throw new IllegalStateException("a key is no signature");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
