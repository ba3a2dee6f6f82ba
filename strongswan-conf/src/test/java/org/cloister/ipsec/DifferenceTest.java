package org.cloister.ipsec;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DifferenceTest {
    private static final String NAME = "cloister-c";

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static Map<String, Connection> initiating;

    @SuppressWarnings("NullAway.Init")
    private static Map<String, Connection> expecting;

    @SuppressWarnings("NullAway.Init")
    private static Map<String, Connection> demanding;

    @BeforeAll
    static void plans(@TempDir Path folder) throws IOException {
        Identity self = Identity.worker("w1", "a");
        TestCa ca = new TestCa(folder, "a");
        Plan plan = Plan.of(self, new Address("10.70.0.2"), ca.issue(self), ca.authorities(), Esp.KERNEL);
        Identity controller = Identity.controller("c", "a");
        Address there = new Address("10.70.0.1");
        initiating = plan.with(List.of(new Peer("c", controller, there, Peer.Start.INITIATE)))
                .connections();
        expecting = plan.with(List.of(new Peer("c", controller, there, Peer.Start.WAIT)))
                .connections();
        demanding = plan.with(List.of(new Peer("c", controller, there, Peer.Start.ON_DEMAND)))
                .connections();
    }

    private static Sa sa(long id, String state, boolean child) {
        List<Sa.Child> children = child ? List.of(new Sa.Child(NAME, "INSTALLED", "TUNNEL", 1, 2, 3)) : List.of();
        return new Sa(NAME, id, state, true, 5, children);
    }

    private static Difference of(Map<String, Connection> wanted, Set<Long> stale, Sa... sas) {
        return Difference.of(wanted, new Difference.Found(wanted, Set.of(NAME), List.of(sas), stale, Set.of()));
    }

    @Test
    void what_charon_has_not_is_loaded_and_initiated() {
        Difference all =
                Difference.of(initiating, new Difference.Found(Map.of(), Set.of(), List.of(), Set.of(), Set.of()));
        assertThat(all.load()).hasSize(1);
        assertThat(all.initiate()).hasSize(1);
        assertThat(all.next()).isEqualTo(Difference.RETRY);
    }

    @Test
    void what_was_told_and_is_not_there_any_more_is_told_again() {
        Difference all =
                Difference.of(expecting, new Difference.Found(expecting, Set.of(), List.of(), Set.of(), Set.of()));
        assertThat(all.load()).hasSize(1);
        assertThat(all.initiate()).isEmpty();
    }

    @Test
    void what_is_as_it_should_be_is_left_alone() {
        Difference nothing = of(initiating, Set.of(), sa(1, "ESTABLISHED", true));
        assertThat(nothing.load()).isEmpty();
        assertThat(nothing.initiate()).isEmpty();
        assertThat(nothing.terminate()).isEmpty();
        assertThat(nothing.next()).isEqualTo(Difference.AUDIT);
    }

    @Test
    void an_attempt_under_way_is_waited_for_and_a_connection_without_tunnel_is_tried_again() {
        assertThat(of(initiating, Set.of(), sa(1, "CONNECTING", false)).initiate())
                .isEmpty();
        assertThat(of(initiating, Set.of(), sa(1, "ESTABLISHED", false)).initiate())
                .hasSize(1);
        assertThat(of(initiating, Set.of(), sa(1, "DELETING", true)).initiate()).hasSize(1);
    }

    @Test
    void what_traffic_asked_for_is_left_to_the_kernel_until_it_failed_and_is_then_tried_again_until_it_is_up() {
        assertThat(demanded(Set.of()).initiate()).isEmpty();
        assertThat(demanded(Set.of(NAME)).initiate()).hasSize(1);
        assertThat(demanded(Set.of(NAME)).next()).isEqualTo(Difference.RETRY);
        assertThat(demanded(Set.of(NAME), sa(1, "CONNECTING", false)).initiate())
                .isEmpty();
        assertThat(demanded(Set.of(NAME), sa(1, "ESTABLISHED", true)).initiate())
                .isEmpty();
        Difference waits = Difference.of(
                expecting, new Difference.Found(expecting, Set.of(NAME), List.of(), Set.of(), Set.of(NAME)));
        assertThat(waits.initiate()).as("the end that waits").isEmpty();
    }

    @Test
    void of_two_tunnels_that_traffic_made_at_once_the_lower_address_ends_the_older() {
        Sa[] two = {sa(1, "ESTABLISHED", true), sa(2, "ESTABLISHED", true)};
        assertThat(demanded(Set.of(), two).terminate())
                .as("10.70.0.2 to 10.70.0.1")
                .isEmpty();
        Connection lower = requireNonNull(demanding.get(NAME));
        Connection swapped = new Connection(
                new Peer("c", lower.peer().identity(), new Address("10.70.0.3"), Peer.Start.ON_DEMAND),
                lower.self(),
                lower.local(),
                lower.certificate(),
                lower.authorities(),
                lower.ike(),
                lower.esp(),
                lower.lifetimes(),
                lower.by());
        Map<String, Connection> wanted = Map.of(NAME, swapped);
        Difference settled =
                Difference.of(wanted, new Difference.Found(wanted, Set.of(NAME), List.of(two), Set.of(), Set.of()));
        assertThat(settled.terminate()).containsExactly(1L);
    }

    private static Difference demanded(Set<String> failed, Sa... sas) {
        return Difference.of(demanding, new Difference.Found(demanding, Set.of(NAME), List.of(sas), Set.of(), failed));
    }

    @Test
    void what_was_made_with_an_older_certificate_ends_only_when_the_newer_is_up() {
        Difference first = of(expecting, Set.of(1L), sa(1, "ESTABLISHED", true));
        assertThat(first.initiate()).as("even by the end that waits otherwise").hasSize(1);
        assertThat(first.terminate()).isEmpty();
        Difference second = of(expecting, Set.of(1L), sa(1, "ESTABLISHED", true), sa(2, "CONNECTING", false));
        assertThat(second.initiate()).isEmpty();
        assertThat(second.terminate()).isEmpty();
        Difference third = of(expecting, Set.of(1L), sa(1, "ESTABLISHED", true), sa(2, "ESTABLISHED", true));
        assertThat(third.initiate()).isEmpty();
        assertThat(third.terminate()).containsExactly(1L);
    }

    @Test
    void of_two_tunnels_to_one_peer_its_initiator_keeps_the_newer_and_the_other_end_both() {
        assertThat(of(initiating, Set.of(), sa(1, "ESTABLISHED", true), sa(2, "ESTABLISHED", true))
                        .terminate())
                .containsExactly(1L);
        assertThat(of(expecting, Set.of(), sa(1, "ESTABLISHED", true), sa(2, "ESTABLISHED", true))
                        .terminate())
                .isEmpty();
    }

    @Test
    void what_nobody_wants_goes_and_what_is_anothers_stays() {
        Sa others = new Sa("office", 9, "ESTABLISHED", true, 5, List.of());
        Difference all = Difference.of(
                Map.of(),
                new Difference.Found(
                        Map.of(),
                        Set.of(NAME, "office"),
                        List.of(sa(1, "ESTABLISHED", true), others),
                        Set.of(),
                        Set.of()));
        assertThat(all.unload()).containsExactly(NAME);
        assertThat(all.terminate()).containsExactly(1L);
    }
}
