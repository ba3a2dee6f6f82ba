package org.cloister.relay;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.List;
import org.cloister.protocol.MalformedException;

/** Whatever is delivered as a revocation list: nobody's key has signed it here, so it is refused with a typed error. */
class CrlFuzz {
    @FuzzTest(maxDuration = "60s")
    void what_nobody_signed_is_refused(byte[] bytes) {
        try {
            new CrlReader(List.of()).read(bytes);
            throw new IllegalStateException("taken");
        } catch (MalformedException e) {
            if (e.getMessage() == null) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
