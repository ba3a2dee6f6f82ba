package org.cloister.transport.circuit;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolVersions;

/** Any first message of the other end gives our terms, or a typed error. */
class HelloFuzz {
    private final CircuitTerms terms = new CircuitTerms(
            new CertificateName("a", "member", "p"),
            new CertificateName("c", "controller", "p"),
            new Digest(Digest.Algorithm.SHA384, "11".repeat(48)));

    @FuzzTest(maxDuration = "60s")
    void hellos_end_in_agreement_or_a_typed_error(byte[] bytes) {
        try {
            int version = terms.agree(CircuitTerms.readHello(bytes), ProtocolVersions.OURS, CircuitClose.Side.OPENER);
            if (version != 1) {
                throw new IllegalStateException("agreed on version " + version);
            }
        } catch (MalformedException | CircuitException e) {
            if (e.getMessage() == null || e.getMessage().length() > 1000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
        }
    }
}
