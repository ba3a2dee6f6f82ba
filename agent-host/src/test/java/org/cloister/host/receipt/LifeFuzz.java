package org.cloister.host.receipt;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.protocol.MalformedException;

/** Whatever lies in the folder of parts: a life that is written and read again as itself, or a refusal. */
class LifeFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_vms_life(byte[] input) {
        try {
            Life life = LifeDocument.read(input);
            if (!LifeDocument.read(LifeDocument.write(life)).equals(life)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
