package org.cloister.protocol.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.protocol.Digest;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.Versions;

/** Holds the document's hello against the code. */
public final class CircuitVectors {
    private CircuitVectors() {}

    public static void requireHello(byte[] bytes, Digest policy) throws Exception {
        CircuitTerms terms = new CircuitTerms(new Name("a", "member", "p"), new Name("c", "controller", "p"), policy);
        assertThat(terms.hello(Versions.OURS).toByteArray()).isEqualTo(bytes);
        assertThat(terms.agree(CircuitTerms.readHello(bytes), Versions.OURS, Close.Side.TARGET))
                .isEqualTo(1);
    }
}
