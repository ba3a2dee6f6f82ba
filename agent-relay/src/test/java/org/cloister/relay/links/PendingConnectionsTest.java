package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
class PendingConnectionsTest {
    private static final int MOST = 6;
    private static final long YOUNG_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long OLD_NS = PendingConnections.SILENT.toNanos() + 1;

    private final PendingConnections pending = new PendingConnections(MOST);
    private final List<String> displaced = new ArrayList<>();

    private Optional<PendingConnections.Entry> enter(String from, String name, long nowNs) throws Exception {
        return pending.admit(InetAddress.getByName(from), nowNs, () -> displaced.add(name));
    }

    private void fill(String from, int entries, long nowNs) throws Exception {
        for (int i = 0; i < entries; i++) {
            assertThat(enter(from, from + "#" + i, nowNs + i)).isPresent();
        }
    }

    @Test
    void the_oldest_of_the_address_with_the_most_goes_for_one_of_another_address() throws Exception {
        fill("10.0.0.1", 4, 0);
        fill("10.0.0.2", 2, 0);
        assertThat(enter("10.0.0.3", "x", YOUNG_NS)).isPresent();
        assertThat(displaced).containsExactly("10.0.0.1#0");
        assertThat(pending.size()).isEqualTo(MOST);
    }

    @Test
    void the_address_with_the_most_displaces_nobody_else_and_its_own_only_once_they_are_silent() throws Exception {
        fill("10.0.0.1", 5, 0);
        fill("10.0.0.2", 1, 0);
        assertThat(enter("10.0.0.1", "x", YOUNG_NS)).isEmpty();
        assertThat(displaced).isEmpty();
        assertThat(enter("10.0.0.1", "y", OLD_NS)).isPresent();
        assertThat(displaced).containsExactly("10.0.0.1#0");
    }

    @Test
    void an_address_with_few_keeps_its_place_from_one_with_more_however_long_its_handshake_takes() throws Exception {
        fill("10.0.0.2", 1, 0);
        fill("10.0.0.1", 5, 1);
        for (int i = 1; i < 20; i++) {
            assertThat(enter("10.0.0.1", "x" + i, OLD_NS * (i + 1))).isPresent();
        }
        assertThat(displaced).hasSize(19).doesNotContain("10.0.0.2#0");
    }

    @Test
    void as_many_addresses_as_places_keep_theirs_until_they_are_silent() throws Exception {
        for (int i = 0; i < MOST; i++) {
            fill("10.0.1." + i, 1, i);
        }
        assertThat(enter("10.0.0.9", "x", YOUNG_NS)).isEmpty();
        assertThat(enter("10.0.0.9", "y", OLD_NS)).isPresent();
        assertThat(displaced).containsExactly("10.0.1.0#0");
    }

    @Test
    void addresses_of_one_ipv6_network_are_one() throws Exception {
        for (int i = 1; i <= MOST; i++) {
            fill("2001:db8:0:1::" + i, 1, 0);
        }
        assertThat(enter("2001:db8:0:1::ff", "x", YOUNG_NS)).isEmpty();
        assertThat(enter("2001:db8:0:2::1", "y", YOUNG_NS)).isPresent();
        assertThat(displaced).containsExactly("2001:db8:0:1::1#0");
    }

    @Test
    void a_place_that_was_left_is_free_and_leaving_it_again_frees_no_other() throws Exception {
        PendingConnections.Entry first = enter("10.0.0.1", "first", 0).orElseThrow();
        fill("10.0.0.1", MOST - 1, 0);
        first.release();
        first.release();
        assertThat(pending.size()).isEqualTo(MOST - 1);
        assertThat(enter("10.0.0.1", "x", YOUNG_NS)).isPresent();
        assertThat(enter("10.0.0.1", "y", YOUNG_NS)).isEmpty();
    }

    @Test
    void there_are_never_more_than_the_limit_whatever_comes_and_goes() throws Exception {
        Random random = new Random(30);
        List<PendingConnections.Entry> inside = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            if (random.nextInt(3) == 0 && !inside.isEmpty()) {
                inside.remove(random.nextInt(inside.size())).release();
            } else {
                enter("10.0.0." + random.nextInt(9), "any", TimeUnit.MILLISECONDS.toNanos(10L * i))
                        .ifPresent(inside::add);
            }
            assertThat(pending.size()).isBetween(0, MOST);
        }
        inside.forEach(PendingConnections.Entry::release);
        assertThat(pending.size()).isZero();
    }
}
