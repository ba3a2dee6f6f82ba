package org.cloister.host.control;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;

/** Fuzzes the reader of a caller's first line: each input is a request or is refused. */
class ControlRequestFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_a_callers_line(byte[] input) {
        try {
            if (ControlRequest.parse(input) instanceof ControlRequest.Stop stop
                    && !ControlRequest.NAME.matcher(stop.vm()).matches()) {
                throw new IllegalStateException("no VM's name: " + stop.vm());
            }
        } catch (MalformedException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
