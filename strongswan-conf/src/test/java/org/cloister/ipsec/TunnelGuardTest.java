package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.ipsec.vici.IpsecException.GuardMissing;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the tunnel guard in namespaces, with the kernel's own nftables. */
class TunnelGuardTest {
    private static final Ipv4Network NETWORK = Ipv4Network.parse("10.70.0.0/24");
    private static final Ipv4Address HERE = new Ipv4Address("10.70.0.2");
    private static final Ipv4Address THERE = new Ipv4Address("10.70.0.1");

    private final TunnelTestPeer here = new TunnelTestPeer();
    private final TunnelTestPeer there = new TunnelTestPeer();

    @BeforeEach
    void connect() throws IOException {
        here.host.connect(there.host);
    }

    @AfterEach
    void tearDown() throws IOException {
        here.close();
        there.close();
    }

    static TunnelGuard guard(EspMode by) {
        return TunnelGuard.of("eth0", NETWORK, new TunnelMtu(1500, by));
    }

    private void addresses() throws IOException {
        here.host.address(HERE.text());
        there.host.address(THERE.text());
    }

    @ParameterizedTest
    @EnumSource
    void is_read_back_as_it_was_written_and_can_be_installed_again(EspMode by) throws Exception {
        TunnelGuard guard = guard(by);
        assertThatThrownBy(() -> guard.verify(here.host.nft()))
                .isInstanceOf(GuardMissing.class)
                .hasMessageContaining("have none");
        guard.install(here.host.nft());
        guard.install(here.host.nft());
        guard.verify(here.host.nft());
        assertThat(TunnelGuard.read(here.host.nft())).isEqualTo(guard);
        TunnelGuard other = guard(by == EspMode.KERNEL ? EspMode.USERSPACE : EspMode.KERNEL);
        assertThatThrownBy(() -> other.verify(here.host.nft())).isInstanceOf(GuardMissing.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "insert rule inet cloister_guard output accept",
                "flush chain inet cloister_guard input",
                "delete table inet cloister_guard",
                "add chain inet cloister_guard output { policy drop ; }",
                "add chain inet cloister_guard other",
            })
    void any_change_is_seen(String change) throws Exception {
        guard(EspMode.USERSPACE).install(here.host.nft());
        here.host.run("/usr/sbin/nft", change);
        assertThatThrownBy(() -> guard(EspMode.USERSPACE).verify(here.host.nft()))
                .isInstanceOf(GuardMissing.class);
        assertThatThrownBy(() -> TunnelGuard.read(here.host.nft())).isInstanceOf(GuardMissing.class);
    }

    @ParameterizedTest
    @ValueSource(ints = {7, 31})
    void refuses_a_network_that_is_too_wide_or_too_narrow(int prefix) {
        Ipv4Network network = Ipv4Network.of(HERE, prefix);
        assertThatThrownBy(() -> TunnelGuard.of("eth0", network, new TunnelMtu(1500, EspMode.KERNEL)))
                .hasMessage("guard: want a network of 8 to 30 bits, have " + network);
    }

    @ParameterizedTest
    @EnumSource
    void drops_what_is_sent_and_what_comes_in_clear_and_leaves_the_machine_itself_alone(EspMode by) throws Exception {
        addresses();
        CharonHost.until("packets without a guard", () -> here.pings(THERE));
        guard(by).install(here.host.nft());
        assertThat(here.pings(THERE)).isFalse();
        assertThat(there.pings(HERE)).isFalse();
        assertThat(here.pings(HERE)).isTrue();
        assertThat(counted(here)).isGreaterThanOrEqualTo(2);
    }

    /** Ports of IKE are charon's: another user's program that sends to them is no way out. */
    @Test
    void lets_only_root_send_from_and_to_the_ports_of_ike() throws Exception {
        addresses();
        guard(EspMode.USERSPACE).install(here.host.nft());
        assertThat(sends("root", 4500)).isTrue();
        assertThat(sends("nobody", 4500)).isFalse();
        assertThat(sends("root", 4501)).isFalse();
    }

    /** Whether a packet to that port comes out of the machine. */
    private boolean sends(String user, int port) throws IOException {
        long before = received(there);
        List<String> send = List.of(
                "runuser",
                "-u",
                user,
                "--",
                "bash",
                "-c",
                "exec python3 -c 'import socket;s=socket.socket(2,2);s.bind((\"\"," + port + "));s.sendto(b\"x\",(\""
                        + THERE + "\"," + port + "))'");
        try {
            here.host.run(send.toArray(String[]::new));
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("Operation not permitted");
        }
        return received(there) > before;
    }

    /** Datagrams for which there was no program. */
    private static long received(TunnelTestPeer end) throws IOException {
        return Long.parseLong(end.host.snmp("Udp:", "NoPorts"));
    }

    private static long counted(TunnelTestPeer end) throws IOException {
        return end.host
                .run("/usr/sbin/nft", "list", "table", "inet", TunnelGuard.TABLE)
                .lines()
                .filter(line -> line.contains("counter packets") && !line.contains("packets 0"))
                .count();
    }
}
