package org.cloister.vm.rpcfilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RpcFilterLimitsTest {
    private static final RpcFilterLimits SMALL =
            new RpcFilterLimits(1000, 3, 2, 2, 1, Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofSeconds(1));

    private final InetAddress one = address(1);
    private final InetAddress two = address(2);

    private static InetAddress address(int last) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 70, 0, (byte) last});
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void a_worker_has_its_number_and_all_have_theirs() {
        ConnectionLimiter seats = new ConnectionLimiter(SMALL);
        assertThat(seats.acquire(one)).isTrue();
        assertThat(seats.acquire(one)).isTrue();
        assertThat(seats.acquire(one)).isFalse();
        assertThat(seats.hasRoom()).isTrue();
        assertThat(seats.acquire(two)).isTrue();
        assertThat(seats.hasRoom()).isFalse();
        seats.release(one);
        assertThat(seats.hasRoom()).isTrue();
        assertThat(seats.acquire(one)).isTrue();
    }

    @Test
    void one_worker_leaves_others_a_way_to_slurmctld() {
        ConnectionLimiter seats = new ConnectionLimiter(SMALL);
        seats.acquire(one);
        seats.acquire(one);
        seats.acquire(two);
        assertThat(seats.acquireUpstream(one)).isTrue();
        assertThat(seats.acquireUpstream(one)).isFalse();
        assertThat(seats.acquireUpstream(two)).isTrue();
        seats.releaseUpstream(one);
        assertThat(seats.acquireUpstream(one)).isTrue();
    }

    @Test
    void who_left_is_forgotten() {
        ConnectionLimiter seats = new ConnectionLimiter(SMALL);
        seats.acquire(one);
        seats.release(one);
        assertThatThrownBy(() -> seats.release(one)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void the_journal_gets_20_lines_in_10_s_and_then_how_many_were_not_said() {
        RpcRefusalCounter refusals = new RpcRefusalCounter(0);
        RpcRefusal why = RpcRefusal.type(SlurmMessageType.REQUEST_TRIGGER_SET);
        for (int i = 0; i < 20; i++) {
            assertThat(refusals.count(why, one, i))
                    .hasValue("refused worker=10.70.0.1 reason=\"type REQUEST_TRIGGER_SET is not for workers\"");
        }
        for (int i = 0; i < 1000; i++) {
            assertThat(refusals.count(why, one, 9_999_999_999L)).isEmpty();
        }
        assertThat(refusals.count(why, one, 10_000_000_000L))
                .hasValueSatisfying(line -> assertThat(line).endsWith(" suppressed=1000"));
        assertThat(FilterStateFile.parse(refusals.text())).hasValue(Map.of("request_trigger_set", 1021L));
    }

    @Test
    void counts_are_read_whole_and_plain_or_not_at_all() {
        assertThat(FilterStateFile.parse("end\n")).hasValue(Map.of());
        assertThat(FilterStateFile.parse("slow 3\nversion 4\nend\n")).hasValue(Map.of("slow", 3L, "version", 4L));
        for (String wrong : new String[] {
            "",
            "slow 3\n",
            "slow 3\nend",
            "slow -3\nend\n",
            "slow 3 3\nend\n",
            "Slow 3\nend\n",
            "slow 3\nend\nslow 4\n",
            "slow 1234567890123456789\nend\n",
            "x 1\n".repeat(201) + "end\n"
        }) {
            assertThat(FilterStateFile.parse(wrong)).as(wrong).isEmpty();
        }
    }

    @Test
    void a_worker_of_the_network_has_an_address_on_loopback_and_nobody_else_has() throws UnknownHostException {
        ProjectNetwork network = ProjectNetwork.parse("10.70.0.1/23");
        assertThat(network.loopbackAlias(InetAddress.getByName("10.70.1.255")))
                .hasValue(InetAddress.getByName("127.70.1.255"));
        for (String other : new String[] {"10.70.0.1", "10.70.2.0", "10.69.255.255", "127.70.0.2", "::1"}) {
            assertThat(network.loopbackAlias(InetAddress.getByName(other)))
                    .as(other)
                    .isEmpty();
        }
        assertThat(ProjectNetwork.parse("192.168.140.1/24").loopbackAlias(InetAddress.getByName("192.168.140.9")))
                .hasValue(InetAddress.getByName("127.168.140.9"));
        for (String wrong : new String[] {"10.70.0.1", "10.70.0.1/31", "10.70.0.1/7", "10.70.0.300/24", "x/24"}) {
            assertThatThrownBy(() -> ProjectNetwork.parse(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
