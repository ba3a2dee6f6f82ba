package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests which circuits are closed when there are too many of them. */
@Tag("boundary")
class UnauthenticatedCircuitsTest {
    private final UnauthenticatedCircuits<IncomingCircuit> circuits =
            new UnauthenticatedCircuits<>(IncomingCircuit::key);

    private record IncomingCircuit(String id, VerificationKey key) {}

    private static IncomingCircuit call(String id) throws Exception {
        return new IncomingCircuit(
                id, SigningKey.of(BootFixture.pair(SignatureCurve.P256)).verificationKey());
    }

    private static CertificateName slot(int number) {
        return new CertificateName("w" + number, "worker", "p");
    }

    @Test
    void a_slot_has_so_many_and_its_oldest_gives_way() throws Exception {
        List<IncomingCircuit> calls = new ArrayList<>();
        for (int i = 0; i < ProtocolLimits.BOOT_CIRCUITS; i++) {
            calls.add(call("call " + i));
            assertThat(circuits.add(slot(0), calls.get(i))).isEmpty();
        }
        assertThat(circuits.add(slot(0), call("one more"))).containsExactly(calls.get(0));
        assertThat(circuits.has(slot(0), calls.get(0))).isFalse();
        assertThat(circuits.removeAll(slot(0))).hasSize(ProtocolLimits.BOOT_CIRCUITS);
        assertThat(circuits.removeAll(slot(0))).isEmpty();
    }

    @Test
    void a_key_has_one_and_its_newest_stays() throws Exception {
        IncomingCircuit first = call("first");
        IncomingCircuit again = new IncomingCircuit("again", first.key());
        circuits.add(slot(0), first);
        assertThat(circuits.add(slot(0), again)).containsExactly(first);
        assertThat(circuits.removeAll(slot(0))).containsExactly(again);
    }

    @Test
    void above_the_limit_of_all_the_slot_that_has_most_gives_way_and_a_lone_worker_does_not() throws Exception {
        IncomingCircuit lone = call("the worker of slot 0");
        circuits.add(slot(0), lone);
        List<IncomingCircuit> away = new ArrayList<>();
        for (int slot = 1; slot <= 2 * ProtocolLimits.VM_CIRCUITS / ProtocolLimits.BOOT_CIRCUITS; slot++) {
            for (int i = 0; i < ProtocolLimits.BOOT_CIRCUITS; i++) {
                away.addAll(circuits.add(slot(slot), call("call " + slot + " " + i)));
            }
        }
        assertThat(away).hasSize(1 + ProtocolLimits.VM_CIRCUITS).doesNotContain(lone);
        assertThat(circuits.has(slot(0), lone)).isTrue();
        assertThat(circuits.remove(slot(0), lone)).isTrue();
        assertThat(circuits.remove(slot(0), lone)).isFalse();
        assertThat(circuits.add(slot(99), call("there is room again"))).isEmpty();
    }
}
