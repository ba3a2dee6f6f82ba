package org.cloister.ctl.authority;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Parses any bytes as the file of an enrolment: a state, or a refusal that an operator can read. */
class EnrolmentFileFuzz {
    private static final int LONGEST = 4_000;

    @FuzzTest(maxDuration = "60s")
    void ends_in_a_state_or_a_refusal(byte[] input) {
        try {
            EnrolmentFileStore.parse(input);
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > LONGEST) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
