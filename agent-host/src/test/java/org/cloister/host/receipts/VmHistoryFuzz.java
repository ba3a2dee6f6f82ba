package org.cloister.host.receipts;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Whatever lies in the folder of parts: a life that is written and read again as itself, or a refusal. */
class VmHistoryFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_vms_life(byte[] input) {
        try {
            VmHistory history = VmHistoryJson.read(input);
            if (!VmHistoryJson.read(VmHistoryJson.write(history)).equals(history)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
