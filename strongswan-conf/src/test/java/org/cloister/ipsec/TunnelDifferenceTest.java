package org.cloister.ipsec;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.cloister.base.address.Ipv4Address;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TunnelDifferenceTest {
    private static final String NAME = "cloister-c";

    @SuppressWarnings("NullAway.Init") // set before all tests
    private static Map<String, TunnelConnection> initiating;

    @SuppressWarnings("NullAway.Init")
    private static Map<String, TunnelConnection> expecting;

    @SuppressWarnings("NullAway.Init")
    private static Map<String, TunnelConnection> demanding;

    @BeforeAll
    static void plans(@TempDir Path folder) throws IOException {
        TunnelIdentity self = TunnelIdentity.worker("w1", "a");
        TestCa ca = new TestCa(folder, "a");
        TunnelPlan plan =
                TunnelPlan.of(self, new Ipv4Address("10.70.0.2"), ca.issue(self), ca.authorities(), EspMode.KERNEL);
        TunnelIdentity controller = TunnelIdentity.controller("c", "a");
        Ipv4Address there = new Ipv4Address("10.70.0.1");
        initiating = plan.with(List.of(new PinnedPeer("c", controller, there, PinnedPeer.Start.INITIATE)))
                .connections();
        expecting = plan.with(List.of(new PinnedPeer("c", controller, there, PinnedPeer.Start.WAIT)))
                .connections();
        demanding = plan.with(List.of(new PinnedPeer("c", controller, there, PinnedPeer.Start.ON_DEMAND)))
                .connections();
    }

    private static IkeSa sa(long id, String state, boolean child) {
        List<IkeSa.ChildSa> children =
                child ? List.of(new IkeSa.ChildSa(NAME, "INSTALLED", "TUNNEL", 1, 2, 3)) : List.of();
        return new IkeSa(NAME, id, state, true, 5, children);
    }

    private static TunnelDifference of(Map<String, TunnelConnection> desired, Set<Long> stale, IkeSa... sas) {
        return TunnelDifference.of(
                desired, new TunnelDifference.ObservedTunnels(desired, Set.of(NAME), List.of(sas), stale, Set.of()));
    }

    @Test
    void what_charon_has_not_is_loaded_and_initiated() {
        TunnelDifference all = TunnelDifference.of(
                initiating, new TunnelDifference.ObservedTunnels(Map.of(), Set.of(), List.of(), Set.of(), Set.of()));
        assertThat(all.load()).hasSize(1);
        assertThat(all.initiate()).hasSize(1);
        assertThat(all.next()).isEqualTo(TunnelDifference.RETRY);
    }

    @Test
    void what_was_told_and_is_not_there_any_more_is_told_again() {
        TunnelDifference all = TunnelDifference.of(
                expecting, new TunnelDifference.ObservedTunnels(expecting, Set.of(), List.of(), Set.of(), Set.of()));
        assertThat(all.load()).hasSize(1);
        assertThat(all.initiate()).isEmpty();
    }

    @Test
    void what_is_as_it_should_be_is_left_alone() {
        TunnelDifference nothing = of(initiating, Set.of(), sa(1, "ESTABLISHED", true));
        assertThat(nothing.load()).isEmpty();
        assertThat(nothing.initiate()).isEmpty();
        assertThat(nothing.terminate()).isEmpty();
        assertThat(nothing.next()).isEqualTo(TunnelDifference.AUDIT);
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
        assertThat(demanded(Set.of(NAME)).next()).isEqualTo(TunnelDifference.RETRY);
        assertThat(demanded(Set.of(NAME), sa(1, "CONNECTING", false)).initiate())
                .isEmpty();
        assertThat(demanded(Set.of(NAME), sa(1, "ESTABLISHED", true)).initiate())
                .isEmpty();
        TunnelDifference waits = TunnelDifference.of(
                expecting,
                new TunnelDifference.ObservedTunnels(expecting, Set.of(NAME), List.of(), Set.of(), Set.of(NAME)));
        assertThat(waits.initiate()).as("the end that waits").isEmpty();
    }

    @Test
    void of_two_tunnels_that_traffic_made_at_once_the_lower_address_ends_the_older() {
        IkeSa[] two = {sa(1, "ESTABLISHED", true), sa(2, "ESTABLISHED", true)};
        assertThat(demanded(Set.of(), two).terminate())
                .as("10.70.0.2 to 10.70.0.1")
                .isEmpty();
        TunnelConnection lower = requireNonNull(demanding.get(NAME));
        TunnelConnection swapped = new TunnelConnection(
                new PinnedPeer("c", lower.peer().identity(), new Ipv4Address("10.70.0.3"), PinnedPeer.Start.ON_DEMAND),
                lower.self(),
                lower.local(),
                lower.certificate(),
                lower.authorities(),
                lower.ike(),
                lower.esp(),
                lower.lifetimes(),
                lower.by());
        Map<String, TunnelConnection> desired = Map.of(NAME, swapped);
        TunnelDifference settled = TunnelDifference.of(
                desired, new TunnelDifference.ObservedTunnels(desired, Set.of(NAME), List.of(two), Set.of(), Set.of()));
        assertThat(settled.terminate()).containsExactly(1L);
    }

    private static TunnelDifference demanded(Set<String> failed, IkeSa... sas) {
        return TunnelDifference.of(
                demanding,
                new TunnelDifference.ObservedTunnels(demanding, Set.of(NAME), List.of(sas), Set.of(), failed));
    }

    @Test
    void what_was_made_with_an_older_certificate_ends_only_when_the_newer_is_up() {
        TunnelDifference first = of(expecting, Set.of(1L), sa(1, "ESTABLISHED", true));
        assertThat(first.initiate()).as("even by the end that waits otherwise").hasSize(1);
        assertThat(first.terminate()).isEmpty();
        TunnelDifference second = of(expecting, Set.of(1L), sa(1, "ESTABLISHED", true), sa(2, "CONNECTING", false));
        assertThat(second.initiate()).isEmpty();
        assertThat(second.terminate()).isEmpty();
        TunnelDifference third = of(expecting, Set.of(1L), sa(1, "ESTABLISHED", true), sa(2, "ESTABLISHED", true));
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
        IkeSa others = new IkeSa("office", 9, "ESTABLISHED", true, 5, List.of());
        TunnelDifference all = TunnelDifference.of(
                Map.of(),
                new TunnelDifference.ObservedTunnels(
                        Map.of(),
                        Set.of(NAME, "office"),
                        List.of(sa(1, "ESTABLISHED", true), others),
                        Set.of(),
                        Set.of()));
        assertThat(all.unload()).containsExactly(NAME);
        assertThat(all.terminate()).containsExactly(1L);
    }
}
