package org.cloister.vm.system.network;

import java.io.IOException;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.TunnelAddress;
import org.cloister.ipsec.TunnelNetwork;
import org.cloister.vm.rpcfilter.RpcFilterMain;

/**
 * The table {@code inet cloister_slurm} of a controlling VM: connections to slurmctld's port that come from without are
 * redirected to the filter's, and what was not redirected is dropped, at either port. What the filter sends to
 * slurmctld from an address of loopback arrives with the worker's address that it stands for, since slurmctld takes a
 * node's address from its connection.
 *
 * <p>Of the filter's port no other uid answers: any program may take the port while no filter runs, and would hear
 * credentials.
 *
 * <p>The kernel tracks no other connections, so that who makes many fills no table that others need; one worker has a
 * bounded number at a time, and begins a bounded number a second. The next ones wait.
 *
 * @param own this machine's address, where slurmctld listens
 * @param network the project's
 * @param filterUid uid of the filter
 */
public record SlurmctldRedirectTable(TunnelAddress own, TunnelNetwork network, int filterUid) {
    static final String NAME = "cloister_slurm";
    private static final int AT_A_TIME = 120;
    private static final int A_SECOND = 100;
    private static final int BURST = 400;
    private static final int MOST_WORKERS = 4096;
    /** Of a connection that has ended; the kernel's own 120 would keep 12,000 of one worker. */
    private static final String FORGET = "net.netfilter.nf_conntrack_tcp_timeout_time_wait=10";

    /** All in one transaction, instead of what was there, and read back. Before slurmctld listens. */
    public void install(ProcessRunner programs) throws IOException {
        programs.runChecked(
                "table inet " + NAME + "\ndelete table inet " + NAME + "\n" + render(), List.of("nft", "-f", "-"));
        programs.runChecked("sysctl", "-q", "-w", FORGET);
        verify(programs);
    }

    /** @throws IOException if the kernel has not exactly these rules */
    public void verify(ProcessRunner programs) throws IOException {
        String found = programs.runChecked("nft", "--stateless", "list", "table", "inet", NAME);
        if (!words(found).equals(words(render()))) {
            throw new IOException(
                    "table inet " + NAME + ": expected the redirection of slurmctld's port to the filter, got"
                            + " another one; the project is not to be used");
        }
    }

    /** As {@code nft --stateless list table} prints it, but for where lines end. */
    String render() {
        return "table inet " + NAME + " {\n"
                + tracking()
                        .formatted(
                                RpcFilterMain.SLURMCTLD_PORT, RpcFilterMain.PORT, own, network, filterUid, MOST_WORKERS)
                + ways().formatted(
                                RpcFilterMain.SLURMCTLD_PORT, RpcFilterMain.PORT, own, network, filterUid, standIns())
                + input().formatted(RpcFilterMain.SLURMCTLD_PORT, RpcFilterMain.PORT, A_SECOND, BURST, AT_A_TIME)
                + "}\n";
    }

    private static String tracking() {
        return """
                	set busy {
                		type ipv4_addr
                		size %6$d
                		flags dynamic
                	}

                	set pace {
                		type ipv4_addr
                		size %6$d
                		flags dynamic,timeout
                		timeout 1m
                	}

                	chain track_in {
                		type filter hook prerouting priority raw; policy accept;
                		iifname "lo" accept
                		tcp dport %1$d accept
                		notrack
                	}

                	chain track_out {
                		type filter hook output priority raw; policy accept;
                		meta skuid %5$d ip saddr 127.0.0.0/8 tcp dport %1$d accept
                		ip daddr %4$s ip daddr != %3$s tcp sport { %1$d, %2$d } accept
                		notrack
                	}

                """;
    }

    private static String ways() {
        return """
                	chain to_filter {
                		type nat hook prerouting priority dstnat; policy accept;
                		iifname != "lo" ip daddr %3$s tcp dport %1$d dnat ip to %3$s:%2$d
                	}

                	chain as_worker {
                		type nat hook postrouting priority srcnat; policy accept;
                		oifname "lo" meta skuid %5$d ip daddr %3$s tcp dport %1$d snat ip prefix to ip saddr map { %6$s : %4$s }
                	}

                	chain output {
                		type filter hook output priority filter; policy accept;
                		tcp sport %2$d meta skuid != %5$d counter drop
                	}

                """;
    }

    private static String input() {
        return """
                	chain input {
                		type filter hook input priority filter; policy accept;
                		iifname != "lo" tcp dport %1$d counter drop
                		iifname != "lo" tcp dport %2$d ct state untracked counter drop
                		iifname != "lo" tcp dport %2$d ct state new add @pace { ip saddr limit rate over %3$d/second burst %4$d packets } drop
                		iifname != "lo" tcp dport %2$d ct state new add @busy { ip saddr ct count over %5$d } drop
                	}
                """;
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
