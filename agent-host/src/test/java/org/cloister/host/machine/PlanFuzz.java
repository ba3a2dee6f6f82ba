package org.cloister.host.machine;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.protocol.MalformedException;

/** Whatever lies in a VM's folder: a plan that is written and read again as itself, or a refusal. */
class PlanFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_vms_plan(byte[] input) {
        try {
            VmPlan plan = PlanDocument.read(input);
            if (!PlanDocument.read(PlanDocument.write(plan)).equals(plan)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
