package org.cloister.transport.circuit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.wire.Hello;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolVersions;
import org.junit.jupiter.api.Test;

class CircuitTermsTest {
    private final CircuitTerms terms = new CircuitTerms(
            new CertificateName("a", "member", "p"),
            new CertificateName("c", "controller", "p"),
            Digest.sha384("policy"));

    private int agree(CircuitTerms theirs, ProtocolVersions there, ProtocolVersions here) throws Exception {
        return terms.agree(CircuitTerms.readHello(theirs.hello(there).toByteArray()), here, CircuitClose.Side.OPENER);
    }

    @Test
    void both_use_the_highest_version_that_both_speak() throws Exception {
        assertThat(agree(terms, new ProtocolVersions(1, 2), new ProtocolVersions(1, 1)))
                .isEqualTo(1);
        assertThat(agree(terms, new ProtocolVersions(1, 2), new ProtocolVersions(2, 3)))
                .isEqualTo(2);
        assertThatThrownBy(() -> agree(terms, new ProtocolVersions(1, 1), new ProtocolVersions(2, 3)))
                .hasMessageContaining("opener version")
                .hasMessageContaining("update the older side");
    }

    @Test
    void other_terms_at_the_other_end_are_refused() {
        for (CircuitTerms swapped : new CircuitTerms[] {
            new CircuitTerms(terms.from(), terms.to(), Digest.sha384("weaker")),
            new CircuitTerms(terms.from(), new CertificateName("w", "worker", "p"), terms.policy()),
            new CircuitTerms(new CertificateName("b", "member", "p"), terms.to(), terms.policy())
        }) {
            assertThatThrownBy(() -> agree(swapped, ProtocolVersions.OURS, ProtocolVersions.OURS))
                    .hasMessageContaining("the relay is lying")
                    .hasMessageContaining("opener protocol");
        }
    }

    @Test
    void a_hello_with_impossible_versions_or_unknown_critical_fields_is_refused() {
        Hello none = terms.hello(ProtocolVersions.OURS).toBuilder().setLowest(0).build();
        assertThatThrownBy(() -> terms.agree(none, ProtocolVersions.OURS, CircuitClose.Side.TARGET))
                .hasMessageContaining("0-1");
        Hello critical =
                terms.hello(ProtocolVersions.OURS).toBuilder().addCritical(9).build();
        assertThatThrownBy(() -> CircuitTerms.readHello(critical.toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("field 9 is critical");
        assertThatThrownBy(() -> CircuitTerms.readHello(new byte[] {1})).isInstanceOf(MalformedException.class);
    }
}
