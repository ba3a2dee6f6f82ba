package org.cloister.vm.network;

import java.io.IOException;
import java.util.List;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Network;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.rpcfilter.Main;

/**
 * The table {@code inet cloister_slurm} of a controlling VM: connections to slurmctld's port that come from without are
 * redirected to the filter's, and what was not redirected is dropped. What the filter sends to slurmctld from an address of
 * loopback arrives with the worker's address that it stands for, since slurmctld takes a node's address from its connection.
 *
 * <p>The kernel tracks no other connections, so that who makes many fills no table that others need; one worker has a bounded
 * number at a time, and begins a bounded number a second. The next ones wait.
 *
 * @param own this machine's address, where slurmctld listens
 * @param network the project's
 * @param filter uid of the filter
 */
public record SlurmPort(Address own, Network network, int filter) {
    static final String NAME = "cloister_slurm";
    private static final int AT_A_TIME = 120;
    private static final int A_SECOND = 100;
    private static final int BURST = 400;
    private static final int MOST_WORKERS = 4096;
    /** Of a connection that has ended; the kernel's own 120 would keep 12,000 of one worker. */
    private static final String FORGET = "net.netfilter.nf_conntrack_tcp_timeout_time_wait=10";

    /** All in one transaction, instead of what was there, and read back. Before slurmctld listens. */
    public void install(Programs programs) throws IOException {
        programs.succeed(
                "table inet " + NAME + "\ndelete table inet " + NAME + "\n" + render(), List.of("nft", "-f", "-"));
        programs.succeed("sysctl", "-q", "-w", FORGET);
        verify(programs);
    }

    /** @throws IOException if the kernel has not exactly these rules */
    public void verify(Programs programs) throws IOException {
        String found = programs.succeed("nft", "--stateless", "list", "table", "inet", NAME);
        if (!words(found).equals(words(render()))) {
            throw new IOException(
                    "table inet " + NAME + ": expected the redirection of slurmctld's port to the filter, got"
                            + " another one; the project is not to be used");
        }
    }

    /** As {@code nft --stateless list table} prints it, but for where lines end. */
    String render() {
        return """
                table inet %1$s {
                	set busy {
                		type ipv4_addr
                		size %7$d
                		flags dynamic
                	}

                	set pace {
                		type ipv4_addr
                		size %7$d
                		flags dynamic,timeout
                		timeout 1m
                	}

                	chain track_in {
                		type filter hook prerouting priority raw; policy accept;
                		iifname "lo" accept
                		tcp dport %2$d accept
                		notrack
                	}

                	chain track_out {
                		type filter hook output priority raw; policy accept;
                		meta skuid %6$d ip saddr 127.0.0.0/8 tcp dport %2$d accept
                		ip daddr %4$s ip daddr != %3$s tcp sport { %2$d, %8$d } accept
                		notrack
                	}

                	chain to_filter {
                		type nat hook prerouting priority dstnat; policy accept;
                		iifname != "lo" ip daddr %3$s tcp dport %2$d dnat ip to %3$s:%8$d
                	}

                	chain as_worker {
                		type nat hook postrouting priority srcnat; policy accept;
                		oifname "lo" meta skuid %6$d ip daddr %3$s tcp dport %2$d snat ip prefix to ip saddr map { %5$s : %4$s }
                	}

                	chain input {
                		type filter hook input priority filter; policy accept;
                		iifname != "lo" tcp dport %2$d counter drop
                		iifname != "lo" tcp dport %8$d ct state new add @pace { ip saddr limit rate over %9$d/second burst %10$d packets } drop
                		iifname != "lo" tcp dport %8$d ct state new add @busy { ip saddr ct count over %11$d } drop
                	}
                }
                """.formatted(
                        NAME,
                        Main.SLURMCTLD_PORT,
                        own,
                        network,
                        standIns(),
                        filter,
                        MOST_WORKERS,
                        Main.PORT,
                        A_SECOND,
                        BURST,
                        AT_A_TIME);
    }

    /** What stands for the project's network on loopback: 127 and the last three numbers. */
    private String standIns() {
        String text = network.toString();
        return "127" + text.substring(text.indexOf('.'));
    }

    /** nft breaks long lines where it likes. */
    private static String words(String table) {
        return table.replaceAll("\\s+", " ").strip();
    }
}
