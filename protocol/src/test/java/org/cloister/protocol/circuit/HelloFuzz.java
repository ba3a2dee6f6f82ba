package org.cloister.protocol.circuit;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.CircuitException;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.Versions;

/** Whatever the other end says first: our terms, or a typed error. */
class HelloFuzz {
    private final CircuitTerms terms = new CircuitTerms(
            new Name("a", "member", "p"),
            new Name("c", "controller", "p"),
            new Digest(Digest.Algorithm.SHA384, "11".repeat(48)));

    @FuzzTest(maxDuration = "60s")
    void hellos_end_in_agreement_or_a_typed_error(byte[] bytes) {
        try {
            int version = terms.agree(CircuitTerms.readHello(bytes), Versions.OURS, Close.Side.OPENER);
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
