package org.cloister.vm.system.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.EspMode;
import org.junit.jupiter.api.Test;

class NetworkPlanTest {
    private static final String MAC = "02:00:00:00:01:02";
    private static final Ipv4Address C = new Ipv4Address("10.70.1.1");
    private static final Ipv4Address W1 = new Ipv4Address("10.70.1.2");
    private static final Ipv4Address W2 = new Ipv4Address("10.70.0.200");

    @Test
    void others_are_the_controlling_vm_and_the_peers_but_never_itself() {
        assertThat(plan(W1, 23, 1500, List.of(W2)).others()).containsExactly(W2, C);
        assertThat(plan(C, 23, 1500, List.of(W1, W2)).others()).containsExactly(W2, W1);
        assertThat(plan(C, 23, 1500, List.of()).others()).isEmpty();
        assertThat(plan(W1, 23, 1500, List.of()).network()).hasToString("10.70.0.0/23");
        assertThat(plan(new Ipv4Address("203.0.113.9"), 8, 1500, List.of(), new Ipv4Address("203.1.2.3"))
                        .network())
                .hasToString("203.0.0.0/8");
    }

    @Test
    void both_ends_of_each_range() {
        assertThat(plan(W1, 23, 576, List.of()).mtu()).isEqualTo(576);
        assertThat(plan(W1, 23, 65_535, List.of()).mtu()).isEqualTo(65_535);
        for (int mtu : new int[] {575, 65_536}) {
            assertThatThrownBy(() -> plan(W1, 23, mtu, List.of())).hasMessageStartingWith("MTU: want 576 to 65535");
        }
        for (int prefix : new int[] {7, 31}) {
            assertThatThrownBy(() -> plan(W1, prefix, 1500, List.of()))
                    .hasMessage("prefix: want 8 to 30 bits, have " + prefix);
        }
        assertThatThrownBy(() -> plan(W1, 24, 1500, List.of(W2)))
                .hasMessage("address: want one of 10.70.1.0/24, have 10.70.0.200");
        assertThatThrownBy(() -> plan(W1, 30, 1500, List.of(), W2)).hasMessageStartingWith("address: want one of");
        assertThatThrownBy(() -> plan(W1, 23, 1500, List.of(W1))).hasMessageEndingWith("have 1 and this one");
        assertThatThrownBy(() -> new NetworkPlan("02:00:00:00:01:0A", W1, 23, 1500, C, List.of(), EspMode.KERNEL))
                .hasMessageStartingWith("MAC: ");
    }

    private static NetworkPlan plan(Ipv4Address own, int prefix, int mtu, List<Ipv4Address> peers) {
        return plan(own, prefix, mtu, peers, C);
    }

    private static NetworkPlan plan(
            Ipv4Address own, int prefix, int mtu, List<Ipv4Address> peers, Ipv4Address controller) {
        return new NetworkPlan(MAC, own, prefix, mtu, controller, peers, EspMode.KERNEL);
    }
}
