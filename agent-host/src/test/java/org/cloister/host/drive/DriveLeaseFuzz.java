package org.cloister.host.drive;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/**
 * Fuzzes the reader of a drive's lease: each input is a lease that is written and read again as itself, or is refused.
 */
class DriveLeaseFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_lease(byte[] input) {
        try {
            DriveLease lease = DriveLease.read(input);
            if (!DriveLease.read(lease.write()).equals(lease)) {
                throw new IllegalStateException("written and read, it is another");
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
