package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.host.control.HostStatus;
import org.cloister.host.libvirt.HypervisorEvent;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.ResourceKind;
import org.junit.jupiter.api.Test;

class HostReadinessTest {
    private Optional<ReconcilePass.Outcome> last = Optional.of(outcome(Set.of(), List.of(), List.of()));
    private boolean attached = true;
    private Optional<String> failure = Optional.empty();
    private Optional<String> noRoom = Optional.empty();
    private final HostReadiness readiness = new HostReadiness(() -> last, () -> attached, () -> noRoom, () -> failure);

    private static ReconcilePass.Outcome outcome(
            Set<ResourceKind> silent, List<String> unheard, List<String> troubles) {
        return new ReconcilePass.Outcome(List.of(), silent, unheard, troubles, List.of(), 1, OptionalLong.empty());
    }

    @Test
    void a_host_takes_work_when_all_that_it_works_with_is_there() {
        assertThat(readiness.unready()).isEmpty();
        assertThat(readiness.unfit()).isEmpty();
        assertThat(readiness.components())
                .extracting(HostStatus.Component::name)
                .containsExactly("relay", "libvirt", "bridge", "host", "state", "preflight");
        assertThat(readiness.components()).allMatch(HostStatus.Component::available);
    }

    @Test
    void without_a_relay_it_is_not_ready_and_yet_fit() {
        attached = false;
        assertThat(readiness.unready()).contains("relay: none attached");
        assertThat(readiness.unfit()).isEmpty();
    }

    @Test
    void before_its_first_look_it_takes_nothing() {
        last = Optional.empty();
        assertThat(readiness.unfit()).contains("libvirt: has not answered yet");
        last = Optional.of(outcome(Set.of(ResourceKind.PORT), List.of("PORT"), List.of("PORT unknown: no database")));
        assertThat(readiness.unfit()).contains("bridge: has not answered yet");
    }

    @Test
    void a_source_that_fell_silent_and_a_trouble_say_so() {
        last = Optional.of(outcome(Set.of(ResourceKind.PORT), List.of(), List.of("PORT unknown: no database")));
        assertThat(readiness.unfit()).contains("bridge: does not answer");
        last = Optional.of(outcome(Set.of(), List.of(), List.of("folder not removed")));
        assertThat(readiness.unfit()).contains("host: folder not removed");
    }

    @Test
    void libvirt_is_away_from_the_event_that_says_so_until_the_next() {
        readiness.onHypervisorEvent(new HypervisorEvent.ConnectionLost("gone"));
        assertThat(readiness.unfit()).contains("libvirt: connection lost");
        readiness.onHypervisorEvent(new HypervisorEvent.ConnectionRestored());
        assertThat(readiness.unfit()).isEmpty();
    }

    @Test
    void a_state_without_room_keeps_it_from_work() {
        noRoom = Optional.of("/state: full");
        assertThat(readiness.unfit()).contains("state: /state: full");
    }

    @Test
    void a_check_that_failed_keeps_it_from_work() {
        failure = Optional.of("swap: not encrypted");
        assertThat(readiness.unfit()).contains("preflight: swap: not encrypted");
    }
}
