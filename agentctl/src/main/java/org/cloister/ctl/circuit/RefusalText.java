package org.cloister.ctl.circuit;

import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;

/** Text for a person whose circuit to a VM failed, with what to do where the reason is known. */
final class RefusalText {
    private RefusalText() {}

    static String of(CertificateName to, CircuitException failure) {
        CircuitClose close = failure.close();
        if (close.side() == CircuitClose.Side.TARGET && close.reason() == CloseReason.STARTING) {
            return to + ": not yet: the project is being opened; try again in about a minute";
        }
        if (close.side() == CircuitClose.Side.TARGET && close.reason() == CloseReason.LOCKED) {
            return to + ": not yet: the VM runs and waits for its opener's device; try again in about a minute, or "
                    + "see who opened it with agentctl project status";
        }
        return String.valueOf(failure.getMessage());
    }
}
