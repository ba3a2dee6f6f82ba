package org.cloister.protocol.handover;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.MessageLite;
import java.util.Arrays;
import org.cloister.base.encoding.MalformedException;

/** Any bytes in a boot conversation give a value that is written and read again as itself, or a refusal. */
class HandoverDocumentFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_both_sides(byte[] input) {
        if (input.length == 0) {
            return;
        }
        boolean verifier = (input[0] & 1) == 0;
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        try {
            MessageLite written = verifier
                    ? VerifierMessage.read(bytes).wire()
                    : VmMessage.read(bytes).wire();
            Object first = read(verifier, bytes);
            if (!read(verifier, written.toByteArray()).equals(first)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }

    private static Object read(boolean verifier, byte[] bytes) throws MalformedException {
        return verifier ? VerifierMessage.read(bytes) : VmMessage.read(bytes);
    }
}
