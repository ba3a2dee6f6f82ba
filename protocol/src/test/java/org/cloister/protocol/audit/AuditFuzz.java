package org.cloister.protocol.audit;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Any bytes give a line that is written as it was read, or a refusal; and the verifier ends with findings. */
class AuditFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_lines_and_logs(byte[] bytes) throws IOException {
        try {
            AuditLine line = AuditLine.parse(bytes);
            byte[] again = line instanceof AuditRecord record
                    ? record.line()
                    : line instanceof AuditSegmentHeader start
                            ? start.line()
                            : ((AuditHeadLine) line).envelope().bytes();
            if (!Arrays.equals(again, bytes)) {
                throw new IllegalStateException("written again, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
        AuditVerification verification = new AuditLogVerifier(List.of(), 1)
                .verify(List.of(new AuditSegment("segment", () -> new ByteArrayInputStream(bytes))), List.of());
        if (verification.isValid()) {
            throw new IllegalStateException("nobody signed this, and it holds");
        }
    }
}
