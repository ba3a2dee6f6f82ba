package org.cloister.protocol.evidence;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Any bytes of an evidence request from a VM give a value that is written and read again as itself, or a refusal. */
class EvidenceMessageFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_questions(byte[] bytes) {
        try {
            EvidenceMessage.Request read = EvidenceMessage.readRequest(bytes);
            if (!EvidenceMessage.readRequest(read.wire().toByteArray()).equals(read)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
