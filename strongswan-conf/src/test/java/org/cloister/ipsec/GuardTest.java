package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.cloister.ipsec.vici.IpsecException.GuardMissing;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In namespaces, with the kernel's own nftables. */
class GuardTest {
    private static final Network NETWORK = new Network(new Address("10.70.0.0"), 24);
    private static final Address HERE = new Address("10.70.0.2");
    private static final Address THERE = new Address("10.70.0.1");

    private final End here = new End();
    private final End there = new End();

    @BeforeEach
    void connect() throws IOException {
        here.host.connect(there.host);
    }

    @AfterEach
    void end() throws IOException {
        here.close();
        there.close();
    }

    static Guard guard(Esp by) {
        return Guard.of("eth0", NETWORK, new Mtu(1500, by));
    }

    private void addresses() throws IOException {
        here.host.address(HERE.text());
        there.host.address(THERE.text());
    }

    @ParameterizedTest
    @EnumSource
    void is_read_back_as_it_was_written_and_can_be_installed_again(Esp by) throws Exception {
        Guard guard = guard(by);
        assertThatThrownBy(() -> guard.verify(here.host.nft()))
                .isInstanceOf(GuardMissing.class)
                .hasMessageContaining("have none");
        guard.install(here.host.nft());
        guard.install(here.host.nft());
        guard.verify(here.host.nft());
        assertThat(Guard.read(here.host.nft())).isEqualTo(guard);
        Guard other = guard(by == Esp.KERNEL ? Esp.USERSPACE : Esp.KERNEL);
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
        guard(Esp.USERSPACE).install(here.host.nft());
        here.host.run("/usr/sbin/nft", change);
        assertThatThrownBy(() -> guard(Esp.USERSPACE).verify(here.host.nft())).isInstanceOf(GuardMissing.class);
        assertThatThrownBy(() -> Guard.read(here.host.nft())).isInstanceOf(GuardMissing.class);
    }

    @ParameterizedTest
    @EnumSource
    void drops_what_is_sent_and_what_comes_in_clear_and_leaves_the_machine_itself_alone(Esp by) throws Exception {
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
        guard(Esp.USERSPACE).install(here.host.nft());
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
    private static long received(End end) throws IOException {
        return Long.parseLong(end.host.snmp("Udp:", "NoPorts"));
    }

    private static long counted(End end) throws IOException {
        return end.host
                .run("/usr/sbin/nft", "list", "table", "inet", Guard.TABLE)
                .lines()
                .filter(line -> line.contains("counter packets") && !line.contains("packets 0"))
                .count();
    }
}
