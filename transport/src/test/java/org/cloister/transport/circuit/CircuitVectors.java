package org.cloister.transport.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolVersions;

/** Holds the document's hello against the code. */
public final class CircuitVectors {
    private CircuitVectors() {}

    public static void requireHello(byte[] bytes, Digest policy) throws Exception {
        CircuitTerms terms = new CircuitTerms(
                new CertificateName("a", "member", "p"), new CertificateName("c", "controller", "p"), policy);
        assertThat(terms.hello(ProtocolVersions.OURS).toByteArray()).isEqualTo(bytes);
        assertThat(terms.agree(CircuitTerms.readHello(bytes), ProtocolVersions.OURS, CircuitClose.Side.TARGET))
                .isEqualTo(1);
    }
}
