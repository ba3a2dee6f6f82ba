package org.cloister.protocol.handover;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Any bytes of an assignment from a host give a value that is written and read again as itself, or a refusal. */
class VmAssignmentFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_answers(byte[] bytes) {
        try {
            AssignmentMessage.Response read = AssignmentMessage.readResponse(bytes);
            if (!AssignmentMessage.readResponse(read.wire().toByteArray()).equals(read)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
