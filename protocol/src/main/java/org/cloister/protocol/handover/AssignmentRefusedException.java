package org.cloister.protocol.handover;

import java.io.IOException;

/** Refusal by a host to send a VM's assignment. */
public final class AssignmentRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final AssignmentMessage.RefusalReason why;

    public AssignmentRefusedException(AssignmentMessage.RefusalReason why) {
        super("assignment: want one of the host, have its refusal: " + why);
        this.why = why;
    }

    /** Returns the reason, for programs to branch on. */
    public AssignmentMessage.RefusalReason why() {
        return why;
    }
}
