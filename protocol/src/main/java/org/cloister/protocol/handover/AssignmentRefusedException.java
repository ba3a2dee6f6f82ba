package org.cloister.protocol.handover;

import java.io.IOException;

/** A host does not say what the VM is. */
public final class AssignmentRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final AssignmentMessage.RefusalReason why;

    public AssignmentRefusedException(AssignmentMessage.RefusalReason why) {
        super("assignment: want one of the host, have its refusal: " + why);
        this.why = why;
    }

    /** What to branch on. */
    public AssignmentMessage.RefusalReason why() {
        return why;
    }
}
