package org.cloister.protocol.handover;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.protocol.MalformedException;

/** Whatever bytes a host sends a VM about what it is: a value that is written and read again as itself, or a refusal. */
class AssignmentFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_answers(byte[] bytes) {
        try {
            AssignmentMessage.Answer read = AssignmentMessage.readAnswer(bytes);
            if (!AssignmentMessage.readAnswer(read.wire().toByteArray()).equals(read)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
