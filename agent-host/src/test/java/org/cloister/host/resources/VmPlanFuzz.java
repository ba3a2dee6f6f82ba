package org.cloister.host.resources;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Fuzzes the reader of a VM's plan: each input is a plan that is written and read again as itself, or is refused. */
class VmPlanFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_vms_plan(byte[] input) {
        try {
            VmPlan plan = VmPlanJson.read(input);
            if (!VmPlanJson.read(VmPlanJson.write(plan)).equals(plan)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
