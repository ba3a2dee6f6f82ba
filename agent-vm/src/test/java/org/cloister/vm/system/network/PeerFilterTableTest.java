package org.cloister.vm.system.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.EspMode;
import org.junit.jupiter.api.Test;

/** Tests the text of the rules; {@code VmNetworkTest} of the lab tests what the kernel makes of it. */
class PeerFilterTableTest {
    @Test
    void lets_esp_and_ike_of_the_plans_machines_through() {
        assertThat(table(EspMode.KERNEL, new Ipv4Address("10.70.0.1"), new Ipv4Address("10.70.0.3")))
                .isEqualTo("""
                table inet cloister {
                	set others {
                		type ipv4_addr
                		elements = { 10.70.0.1, 10.70.0.3 }
                	}

                	chain output {
                		type filter hook output priority filter; policy accept;
                		ip daddr 127.0.0.0/8 accept
                		oifname "eth0" ip daddr @others rt ipsec exists accept
                		oifname "eth0" ip daddr @others meta l4proto esp accept
                		oifname "eth0" ip daddr @others udp sport { 500, 4500 } udp dport { 500, 4500 } meta skuid 0 accept
                		oifname "eth0" counter drop
                	}

                	chain input {
                		type filter hook input priority filter; policy accept;
                		iifname "eth0" ip saddr @others meta ipsec exists accept
                		iifname "eth0" ip saddr @others meta l4proto esp accept
                		iifname "eth0" ip saddr @others udp sport { 500, 4500 } udp dport { 500, 4500 } accept
                		iifname "eth0" counter drop
                	}
                }
                """);
    }

    @Test
    void in_user_space_esp_is_charons_udp_and_nothing_else() {
        assertThat(table(EspMode.USERSPACE, new Ipv4Address("10.70.0.1"))).doesNotContain("esp", "ipsec");
    }

    @Test
    void without_machines_nothing_passes() {
        assertThat(table(EspMode.KERNEL)).contains("type ipv4_addr\n\t}").doesNotContain("elements");
    }

    private static String table(EspMode by, Ipv4Address... others) {
        return new PeerFilterTable("eth0", List.of(others), by).render();
    }
}
