package org.cloister.vm.system.network;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.junit.jupiter.api.Test;

/** The words alone; the kernel's own are read back where a Local Slurm runs behind them. */
class SlurmctldRedirectTableTest {
    private final String table =
            new SlurmctldRedirectTable(new Ipv4Address("10.70.0.1"), Ipv4Network.parse("10.70.0.0/23"), 407).render();

    @Test
    void what_comes_from_without_is_sent_to_the_filter_and_dropped_where_it_was_not() {
        assertThat(table)
                .contains("iifname != \"lo\" ip daddr 10.70.0.1 tcp dport 6817 dnat ip to 10.70.0.1:16817")
                .contains("iifname != \"lo\" tcp dport 6817 counter drop")
                .contains("iifname != \"lo\" tcp dport 16817 ct state untracked counter drop")
                .contains("tcp sport 16817 meta skuid != 407 counter drop");
    }

    @Test
    void the_filters_uid_alone_arrives_with_a_workers_address() {
        assertThat(table)
                .containsOnlyOnce("snat")
                .contains(
                        "oifname \"lo\" meta skuid 407 ip daddr 10.70.0.1 tcp dport 6817 snat ip prefix to ip saddr map"
                                + " { 127.70.0.0/23 : 10.70.0.0/23 }");
    }

    @Test
    void no_connection_is_tracked_but_slurmctlds() {
        assertThat(table.lines().filter(line -> line.strip().equals("notrack"))).hasSize(2);
        assertThat(table.lines().filter(line -> line.contains("tcp") && line.endsWith("accept")))
                .allMatch(line -> line.contains("6817"));
    }

    @Test
    void one_worker_has_a_bounded_number_of_connections_and_begins_a_bounded_number_a_second() {
        assertThat(table)
                .contains("ip saddr limit rate over 100/second burst 400 packets } drop")
                .contains("ip saddr ct count over 120 } drop");
    }

    @Test
    void so_has_one_member_of_this_machine_who_has_none_to_the_storage() {
        assertThat(table)
                .contains(
                        "tcp dport { 6817, 6819 } meta skuid 1000-60000 ct state new add @members { meta skuid ct count"
                                + " over 32 } drop")
                .contains("add @members_pace { meta skuid limit rate over 100/second burst 400 packets } drop")
                .contains("oifname \"lo\" tcp dport 2049 meta skuid 1000-60000 counter drop");
    }
}
