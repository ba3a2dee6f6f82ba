package org.cloister.ovs.dns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.ovs.EgressDestination;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResolvedNamesTest {
    private static final HostName LICENCE = new HostName("licence.example");
    private static final HostName CLOCK = new HostName("clock.example");
    private static final NameAnswerPolicy POLICY = NameAnswerPolicy.of(
            Set.of(AddressPrefix.parse("10.77.0.0/16"), AddressPrefix.parse("fd00:77::/32")),
            Set.of(new HostName("cloister.internal")));

    private final ResolvedNames names = new ResolvedNames(
            POLICY,
            List.of(
                    NamedEgressDestination.parse("licence.example:tcp:27000"),
                    NamedEgressDestination.parse("licence.example:tcp:27001"),
                    NamedEgressDestination.parse("clock.example:udp:123")));

    @Test
    void answers_become_destinations_and_hosts() throws Exception {
        assertThat(names.due(at(0))).containsExactly(CLOCK, LICENCE);
        assertThat(names.hosts(at(0))).isEmpty();
        names.onAnswer(LICENCE, addresses("192.0.2.8", "192.0.2.7", "2001:db8::7"), at(0));
        assertThat(names.due(at(0))).containsExactly(CLOCK);
        names.onAnswer(CLOCK, addresses("192.0.2.7"), at(0));
        assertThat(names.destinations(at(0)))
                .extracting(EgressDestination::toString)
                .containsExactly(
                        "192.0.2.7:tcp:27000",
                        "192.0.2.7:tcp:27001",
                        "192.0.2.7:udp:123",
                        "192.0.2.8:tcp:27000",
                        "192.0.2.8:tcp:27001");
        assertThat(names.hosts(at(0)))
                .isEqualTo("192.0.2.7 clock.example\n192.0.2.7 licence.example\n192.0.2.8 licence.example\n");
    }

    @Test
    void a_moved_name_keeps_its_old_address_for_an_hour_but_does_not_tell_it() throws Exception {
        names.onAnswer(CLOCK, addresses("192.0.2.7"), at(0));
        assertThat(names.due(at(299))).containsExactly(LICENCE);
        assertThat(names.due(at(300))).containsExactly(CLOCK, LICENCE);
        names.onAnswer(CLOCK, addresses("192.0.2.9"), at(300));
        assertThat(names.hosts(at(300))).isEqualTo("192.0.2.9 clock.example\n");
        names.onAnswer(CLOCK, addresses("192.0.2.9"), at(600));
        assertThat(names.destinations(at(300 + 3599))).hasSize(2);
        assertThat(names.destinations(at(300 + 3600))).hasToString("[192.0.2.9:udp:123]");
    }

    @Test
    void a_failure_is_tried_again_soon_and_the_last_answer_holds_for_a_day() throws Exception {
        names.onAnswer(CLOCK, addresses("192.0.2.7"), at(0));
        names.onFailure(CLOCK, at(300));
        assertThat(names.due(at(329))).containsExactly(LICENCE);
        assertThat(names.due(at(330))).contains(CLOCK);
        long day = Duration.ofDays(1).toSeconds();
        assertThat(names.hosts(at(day - 1))).isEqualTo("192.0.2.7 clock.example\n");
        assertThat(names.hosts(at(day))).isEmpty();
        assertThat(names.destinations(at(day))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "127.255.255.254",
                "0.0.0.0",
                "0.1.2.3",
                "169.254.169.254",
                "224.0.0.1",
                "240.0.0.1",
                "255.255.255.255",
                "10.77.0.1",
                "10.77.255.255",
                "::",
                "::1",
                "fe80::1",
                "ff02::1",
                "fd00:77::1",
                "::ffff:127.0.0.1"
            })
    void one_address_inside_refuses_the_answer_and_keeps_the_last(String inside) throws Exception {
        names.onAnswer(CLOCK, addresses("192.0.2.7"), at(0));
        assertThatThrownBy(() -> names.onAnswer(CLOCK, addresses("192.0.2.9", inside), at(300)))
                .isInstanceOf(NameRefusedException.class)
                .hasMessageStartingWith("name clock.example: want addresses outside");
        assertThat(names.destinations(at(300))).hasToString("[192.0.2.7:udp:123]");
        assertThat(names.due(at(329))).doesNotContain(CLOCK);
        assertThat(names.due(at(330))).contains(CLOCK);
    }

    @Test
    void an_answer_of_no_use_is_refused() {
        assertThatThrownBy(() -> names.onAnswer(CLOCK, addresses("2001:db8::1"), at(0)))
                .hasMessageContaining("want an IPv4 address");
        String[] many = new String[17];
        for (int i = 0; i < many.length; i++) {
            many[i] = "192.0.2." + (i + 1);
        }
        assertThatThrownBy(() -> names.onAnswer(CLOCK, addresses(many), at(0))).hasMessageContaining("at most 16");
    }

    @Test
    void names_of_the_project_and_too_many_are_refused() {
        List<NamedEgressDestination> many = new ArrayList<>();
        for (int i = 0; i < 65; i++) {
            many.add(NamedEgressDestination.parse("h" + i + ".example:tcp:1"));
        }
        assertThatThrownBy(() -> new ResolvedNames(POLICY, many)).hasMessageContaining("at most 64, have 65");
        List<NamedEgressDestination> own = List.of(NamedEgressDestination.parse("w1.worker.p.cloister.internal:tcp:1"));
        assertThatThrownBy(() -> new ResolvedNames(POLICY, own)).hasMessageContaining("outside cloister.internal");
        assertThatThrownBy(() -> names.onFailure(new HostName("other.example"), 0))
                .hasMessageContaining("not in this book");
    }

    /** A clock that begins near the end of its numbers. */
    private static long at(long seconds) {
        return Long.MAX_VALUE - 1000 + Duration.ofSeconds(seconds).toNanos();
    }

    private static List<InetAddress> addresses(String... texts) throws UnknownHostException {
        List<InetAddress> addresses = new ArrayList<>();
        for (String text : texts) {
            addresses.add(InetAddress.getByName(text));
        }
        return addresses;
    }
}
