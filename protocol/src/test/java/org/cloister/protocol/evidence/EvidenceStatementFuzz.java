package org.cloister.protocol.evidence;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Any bytes give a value that is written and read again as itself, or a refusal. */
class EvidenceStatementFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_statements(byte[] bytes) {
        try {
            EvidenceStatement read = EvidenceStatement.parse(bytes);
            if (!EvidenceStatement.parse(read.json()).equals(read)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
