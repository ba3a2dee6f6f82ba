package org.cloister.vm.controller;

import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;

/**
 * Decision about a Dial to a controlling VM whose project is not at work yet. The reasons tell people whether to ask an
 * opener or to wait; docs/protocol.md, section 9.
 */
final class EarlyDialDecision {
    private EarlyDialDecision() {}

    /**
     * Returns why the Dial is refused; empty for the opener's.
     *
     * @param requester the opener who requested this VM
     * @param keysReceived whether the opener has sent the drive's key
     */
    static Optional<CloseReason> refusal(CertificateName from, CertificateName requester, boolean keysReceived) {
        if (from.equals(requester)) {
            return Optional.empty();
        }
        return Optional.of(keysReceived ? CloseReason.STARTING : CloseReason.LOCKED);
    }
}
