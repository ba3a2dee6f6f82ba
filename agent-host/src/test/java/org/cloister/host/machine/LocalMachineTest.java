package org.cloister.host.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.DomainView;
import org.cloister.host.ledger.Thing;
import org.cloister.host.libvirt.Domains;
import org.junit.jupiter.api.Test;

class LocalMachineTest {
    @Test
    void a_domain_whose_guest_powers_off_does_not_stand_still() {
        assertThat(runs(DomainState.RUNNING)).isTrue();
        assertThat(runs(DomainState.ENDING)).isTrue();
        assertThat(runs(DomainState.PAUSED)).isFalse();
    }

    private static boolean runs(DomainState state) {
        DomainView view = new DomainView(PlanSamples.OWNER, state, "cl-a0", Path.of("/run/channel"), List.of());
        return LocalMachine.things(new Domains(List.of(view), List.of())).stream()
                .allMatch(Thing::runs);
    }
}
