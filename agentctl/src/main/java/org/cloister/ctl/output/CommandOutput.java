package org.cloister.ctl.output;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Output of a command as a table and as a document. */
public interface CommandOutput {
    TextTable table();

    /** Returns the output as a document. Its keys are described in the command's man page and do not change. */
    ObjectNode document();
}
