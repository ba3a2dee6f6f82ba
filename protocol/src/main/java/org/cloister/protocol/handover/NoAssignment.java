package org.cloister.protocol.handover;

import java.io.IOException;

/** A host does not say what the VM is. */
public final class NoAssignment extends IOException {
    private static final long serialVersionUID = 1;

    private final AssignmentMessage.Why why;

    public NoAssignment(AssignmentMessage.Why why) {
        super("assignment: want one of the host, have its refusal: " + why);
        this.why = why;
    }

    /** What to branch on. */
    public AssignmentMessage.Why why() {
        return why;
    }
}
