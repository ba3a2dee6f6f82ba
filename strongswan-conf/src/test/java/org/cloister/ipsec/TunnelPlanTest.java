package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;
import org.cloister.ipsec.vici.ViciMessage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TunnelPlanTest {
    private static final TunnelIdentity SELF = TunnelIdentity.worker("w1", "a");
    private static final Ipv4Address LOCAL = new Ipv4Address("10.70.0.2");
    private static final PinnedPeer PEER = new PinnedPeer(
            "c", TunnelIdentity.controller("c", "a"), new Ipv4Address("10.70.0.1"), PinnedPeer.Start.ON_DEMAND);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init") // set before each test
    private TunnelPlan plan;

    @SuppressWarnings("NullAway.Init")
    private TestCa ca;

    @BeforeEach
    void issue() throws IOException {
        ca = new TestCa(folder, "a");
        plan = TunnelPlan.of(SELF, LOCAL, ca.issue(SELF), ca.authorities(), EspMode.KERNEL);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "aes256gcm16-prfsha384-ecp384",
                "aes256gcm16-prfsha512-ecp521",
            })
    void takes_strong_proposals(String text) throws Exception {
        assertThat(CipherProposal.ike(text, Set.of())).hasToString(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "aes128gcm16-prfsha384-ecp384",
                "aes256gcm16-prfsha256-ecp384",
                "aes256gcm16-prfsha384-ecp256",
                "aes256gcm16-prfsha384-curve25519",
                "3des-sha1-modp1024",
                "aes256gcm16-prfsha384-ecp384-modp1024",
                "aes256gcm16-prfsha384",
                "aes256gcm16-ecp384-prfsha384",
                "aes256-sha384-ecp384",
                "null-prfsha384-ecp384",
                "default",
                "",
                "aes256gcm16-prfsha384-ecp384 ",
                "aes256gcm16--ecp384",
            })
    void refuses_weak_unknown_and_incomplete_proposals(String text) {
        assertThatThrownBy(() -> CipherProposal.ike(text, Set.of())).isInstanceOf(PlanRefused.class);
    }

    @Test
    void takes_a_known_weaker_algorithm_when_policy_names_it_but_never_an_unknown_one() throws Exception {
        assertThat(CipherProposal.esp("aes128gcm16-ecp384", Set.of("aes128gcm16")))
                .hasToString("aes128gcm16-ecp384");
        assertThatThrownBy(() -> CipherProposal.esp("3des-ecp384", Set.of("3des")))
                .isInstanceOf(PlanRefused.class)
                .hasMessageContaining("known algorithms");
    }

    @Test
    void renders_a_peer_pinned_to_its_one_address() throws Exception {
        ViciMessage connection =
                connection(plan.with(List.of(PEER)), "cloister-c").message().section("cloister-c");
        assertThat(connection.items("remote_addrs")).containsExactly("10.70.0.1");
        assertThat(connection.items("proposals")).containsExactly("aes256gcm16-prfsha384-ecp384");
        assertThat(connection.section("remote").text("id")).isEqualTo("fqdn:c.controller.a.cloister.internal");
        assertThat(connection.section("remote").text("auth")).isEqualTo("ecdsa-384-sha384");
        ViciMessage child = connection.section("children").section("cloister-c");
        assertThat(child.items("remote_ts")).containsExactly("10.70.0.1/32");
        assertThat(child.items("local_ts")).containsExactly("10.70.0.2/32");
        assertThat(child.text("mode")).isEqualTo("transport");
        assertThat(child.text("start_action")).isEqualTo("trap");
    }

    @Test
    void in_user_space_there_are_no_traps_and_the_lower_address_initiates() throws Exception {
        TunnelPlan userspace = TunnelPlan.of(SELF, LOCAL, ca.issue(SELF), ca.authorities(), EspMode.USERSPACE);
        PinnedPeer above = new PinnedPeer(
                "w9", TunnelIdentity.worker("w9", "a"), new Ipv4Address("10.70.0.10"), PinnedPeer.Start.ON_DEMAND);
        TunnelPlan both = userspace.with(List.of(PEER, above));
        assertThat(connection(both, "cloister-c").initiates()).isFalse();
        assertThat(connection(both, "cloister-w9").initiates()).isTrue();
        assertThat(connection(both, "cloister-w9").message().toString()).doesNotContain("trap");
    }

    @Test
    void lists_itself_for_people_without_anything_secret() throws Exception {
        List<String> listing =
                connection(plan.with(List.of(PEER)), "cloister-c").listing();
        assertThat(listing.get(0))
                .isEqualTo("cloister-c: w1.worker.a.cloister.internal at 10.70.0.2 to"
                        + " c.controller.a.cloister.internal at 10.70.0.1");
        assertThat(listing.get(1)).contains("aes256gcm16-prfsha384-ecp384", "the kernel's ESP, transport mode");
        assertThat(listing.get(3)).isEqualTo("  started by traffic");
    }

    @Test
    void refuses_what_contradicts_itself() {
        assertThatThrownBy(() -> plan.with(List.of(PEER, PEER))).isInstanceOf(PlanRefused.class);
        PinnedPeer elsewhere = new PinnedPeer(
                "x", TunnelIdentity.worker("w2", "b"), new Ipv4Address("10.70.0.3"), PinnedPeer.Start.WAIT);
        assertThatThrownBy(() -> plan.with(List.of(elsewhere)))
                .isInstanceOf(PlanRefused.class)
                .hasMessageContaining("project a");
        PinnedPeer ourselves = new PinnedPeer("x", TunnelIdentity.worker("w2", "a"), LOCAL, PinnedPeer.Start.WAIT);
        assertThatThrownBy(() -> plan.with(List.of(ourselves))).isInstanceOf(PlanRefused.class);
        assertThatThrownBy(() -> plan.with(ca.issue(TunnelIdentity.worker("w2", "a"))))
                .isInstanceOf(PlanRefused.class);
        assertThatThrownBy(() -> TunnelPlan.of(SELF, LOCAL, plan.credential(), List.of(), EspMode.KERNEL))
                .isInstanceOf(PlanRefused.class);
        assertThatThrownBy(() -> DerCertificate.parse(new byte[] {0x30, 0})).isInstanceOf(PlanRefused.class);
        assertThatThrownBy(() -> DerRevocationList.parse(new byte[] {0x30, 0})).isInstanceOf(PlanRefused.class);
        assertThatThrownBy(() -> new TunnelKeyLifetimes(Duration.ofHours(2), Duration.ofHours(1), Duration.ofHours(8)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a.b", "A", "-a", "a-", "a b", "*"})
    void refuses_identities_that_are_no_labels(String id) {
        assertThatThrownBy(() -> TunnelIdentity.worker(id, "a")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TunnelIdentity.worker("a", id)).isInstanceOf(IllegalArgumentException.class);
    }

    private static TunnelConnection connection(TunnelPlan plan, String name) {
        return Objects.requireNonNull(plan.connections().get(name));
    }
}
