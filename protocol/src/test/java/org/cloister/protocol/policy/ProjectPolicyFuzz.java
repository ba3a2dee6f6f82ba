package org.cloister.protocol.policy;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Any bytes give a value that is written and read again as itself, or a refusal. */
class ProjectPolicyFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_policies(byte[] bytes) {
        try {
            ProjectPolicy read = ProjectPolicy.parse(bytes);
            if (!ProjectPolicy.parse(read.json()).equals(read)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
