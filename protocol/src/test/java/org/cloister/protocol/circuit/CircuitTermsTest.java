package org.cloister.protocol.circuit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.wire.Hello;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Close;
import org.cloister.protocol.link.Versions;
import org.junit.jupiter.api.Test;

class CircuitTermsTest {
    private final CircuitTerms terms =
            new CircuitTerms(new Name("a", "member", "p"), new Name("c", "controller", "p"), Digest.sha384("policy"));

    private int agree(CircuitTerms theirs, Versions there, Versions here) throws Exception {
        return terms.agree(CircuitTerms.readHello(theirs.hello(there).toByteArray()), here, Close.Side.OPENER);
    }

    @Test
    void both_use_the_highest_version_that_both_speak() throws Exception {
        assertThat(agree(terms, new Versions(1, 2), new Versions(1, 1))).isEqualTo(1);
        assertThat(agree(terms, new Versions(1, 2), new Versions(2, 3))).isEqualTo(2);
        assertThatThrownBy(() -> agree(terms, new Versions(1, 1), new Versions(2, 3)))
                .hasMessageContaining("opener version")
                .hasMessageContaining("update the older side");
    }

    @Test
    void other_terms_at_the_other_end_are_refused() {
        for (CircuitTerms swapped : new CircuitTerms[] {
            new CircuitTerms(terms.from(), terms.to(), Digest.sha384("weaker")),
            new CircuitTerms(terms.from(), new Name("w", "worker", "p"), terms.policy()),
            new CircuitTerms(new Name("b", "member", "p"), terms.to(), terms.policy())
        }) {
            assertThatThrownBy(() -> agree(swapped, Versions.OURS, Versions.OURS))
                    .hasMessageContaining("the relay is lying")
                    .hasMessageContaining("opener protocol");
        }
    }

    @Test
    void a_hello_with_impossible_versions_or_unknown_critical_fields_is_refused() {
        Hello none = terms.hello(Versions.OURS).toBuilder().setLowest(0).build();
        assertThatThrownBy(() -> terms.agree(none, Versions.OURS, Close.Side.TARGET))
                .hasMessageContaining("0-1");
        Hello critical = terms.hello(Versions.OURS).toBuilder().addCritical(9).build();
        assertThatThrownBy(() -> CircuitTerms.readHello(critical.toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("field 9 is critical");
        assertThatThrownBy(() -> CircuitTerms.readHello(new byte[] {1})).isInstanceOf(MalformedException.class);
    }
}
