package org.cloister.host.resources;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.cloister.host.domain.DomainState;
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.libvirt.DomainList;
import org.cloister.host.reconcile.HostResource;
import org.junit.jupiter.api.Test;

class LocalHostBackendTest {
    @Test
    void a_domain_whose_guest_powers_off_does_not_stand_still() {
        assertThat(runs(DomainState.RUNNING)).isTrue();
        assertThat(runs(DomainState.ENDING)).isTrue();
        assertThat(runs(DomainState.PAUSED)).isFalse();
    }

    private static boolean runs(DomainState state) {
        ObservedDomain view =
                new ObservedDomain(VmPlanSamples.OWNER, state, "cl-a0", Path.of("/run/channel"), List.of());
        return LocalHostBackend.domainResources(new DomainList(List.of(view), List.of())).stream()
                .allMatch(HostResource::running);
    }
}
