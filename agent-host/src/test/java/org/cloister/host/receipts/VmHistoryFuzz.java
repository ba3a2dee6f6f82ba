package org.cloister.host.receipts;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/**
 * Fuzzes the reader of a VM's history: each input is a history that is written and read again as itself, or is refused.
 */
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
