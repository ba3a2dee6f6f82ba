package org.cloister.protocol.evidence;

import java.io.IOException;

/** Refusal by a host to sign evidence about its VM. */
public final class EvidenceRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    private final EvidenceMessage.RefusalReason why;

    public EvidenceRefusedException(EvidenceMessage.RefusalReason why) {
        super("evidence: want the host's statement, have its refusal: " + why);
        this.why = why;
    }

    public EvidenceMessage.RefusalReason why() {
        return why;
    }
}
