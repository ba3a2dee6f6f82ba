package org.cloister.ctl.output;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** What a command has to say, in both shapes. */
public interface CommandOutput {
    TextTable table();

    /** Its keys are described in the command's man page and stay. */
    ObjectNode document();
}
