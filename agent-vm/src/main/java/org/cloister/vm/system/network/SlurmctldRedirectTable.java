package org.cloister.vm.system.network;

import java.io.IOException;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.base.process.Nft;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.vm.rpcfilter.RpcFilterMain;

/**
 * The table {@code inet cloister_slurm} of a controlling VM: redirects connections from outside to slurmctld's port to
 * the filter's port, and drops those to either port that were not redirected. Connections of the filter to slurmctld
 * from a loopback address arrive with the address of the worker that it represents, since slurmctld takes a node's
 * address from its connection.
 *
 * <p>Only the filter's uid may answer from the filter's port: any program may bind the port while no filter runs, and
 * would receive credentials.
 *
 * <p>The kernel tracks no other connections than these and those of this machine's own users to slurmctld and slurmdbd,
 * so that a machine that opens many cannot fill a table that others need. One worker, and one member here, has a
 * bounded number at a time, and opens a bounded number per second. Further ones wait. Members have no connection to the
 * storage server, which closes its oldest, those of workers, when it has too many (by its source).
 *
 * @param own this machine's address, where slurmctld listens
 * @param network the project's
 * @param filterUid uid of the filter
 */
public record SlurmctldRedirectTable(Ipv4Address own, Ipv4Network network, int filterUid) {
    static final String NAME = "cloister_slurm";
    private static final int SLURMDBD_PORT = 6819;
    private static final int NFS_PORT = 2049;
    private static final int MAX_CONNECTIONS = 120;
    private static final int MAX_MEMBER_CONNECTIONS = 32;
    private static final int CONNECTIONS_PER_SECOND = 100;
    private static final int BURST = 400;
    private static final int MAX_WORKERS = 4096;
    /** Seconds for which the kernel tracks a closed connection; its default of 120 would keep 12,000 of one worker. */
    private static final String TIME_WAIT_SETTING = "net.netfilter.nf_conntrack_tcp_timeout_time_wait=10";

    /** Replaces the table in one transaction, then reads it back. Must precede slurmctld's start. */
    public void install(ProcessRunner programs) throws IOException {
        Nft.on(programs).replaceTable(NAME, render());
        programs.runChecked("sysctl", "-q", "-w", TIME_WAIT_SETTING);
        verify(programs);
    }

    /**
     * Reads the table back.
     *
     * @throws IOException if the kernel has not exactly these rules
     */
    public void verify(ProcessRunner programs) throws IOException {
        String found = Nft.on(programs).listTable(NAME);
        if (!words(found).equals(words(render()))) {
            throw new IOException(
                    "table inet " + NAME + ": expected the redirection of slurmctld's port to the filter, got"
                            + " another one; the project must not be used");
        }
    }

    /** Returns the table as {@code nft --stateless list table} prints it, except for line breaks. */
    String render() {
        return "table inet " + NAME + " {\n"
                + connectionTracking()
                        .formatted(
                                RpcFilterMain.SLURMCTLD_PORT,
                                RpcFilterMain.PORT,
                                own,
                                network,
                                filterUid,
                                MAX_WORKERS,
                                SLURMDBD_PORT)
                + nat().formatted(
                                RpcFilterMain.SLURMCTLD_PORT,
                                RpcFilterMain.PORT,
                                own,
                                network,
                                filterUid,
                                loopbackNetwork())
                + output().formatted(
                                RpcFilterMain.SLURMCTLD_PORT,
                                RpcFilterMain.PORT,
                                filterUid,
                                SLURMDBD_PORT,
                                NFS_PORT,
                                LoginRules.LEAST_ID + "-" + LoginRules.MOST_ID,
                                CONNECTIONS_PER_SECOND,
                                BURST,
                                MAX_MEMBER_CONNECTIONS)
                + input().formatted(
                                RpcFilterMain.SLURMCTLD_PORT,
                                RpcFilterMain.PORT,
                                CONNECTIONS_PER_SECOND,
                                BURST,
                                MAX_CONNECTIONS)
                + "}\n";
    }

    private static String connectionTracking() {
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

                	set members {
                		type uid
                		size %6$d
                		flags dynamic
                	}

                	set members_pace {
                		type uid
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
                		oifname "lo" tcp dport { %1$d, %7$d } accept
                		oifname "lo" tcp sport { %1$d, %7$d } accept
                		notrack
                	}

                """;
    }

    private static String nat() {
        return """
                	chain to_filter {
                		type nat hook prerouting priority dstnat; policy accept;
                		iifname != "lo" ip daddr %3$s tcp dport %1$d dnat ip to %3$s:%2$d
                	}

                	chain as_worker {
                		type nat hook postrouting priority srcnat; policy accept;
                		oifname "lo" meta skuid %5$d ip daddr %3$s tcp dport %1$d \
                snat ip prefix to ip saddr map { %6$s : %4$s }
                	}

                """;
    }

    private static String output() {
        return """
                	chain output {
                		type filter hook output priority filter; policy accept;
                		tcp sport %2$d meta skuid != %3$d counter drop
                		oifname "lo" tcp dport %5$d meta skuid %6$s counter drop
                		oifname "lo" tcp dport { %1$d, %4$d } meta skuid %6$s ct state new \
                add @members_pace { meta skuid limit rate over %7$d/second burst %8$d packets } drop
                		oifname "lo" tcp dport { %1$d, %4$d } meta skuid %6$s ct state new \
                add @members { meta skuid ct count over %9$d } drop
                	}

                """;
    }

    private static String input() {
        return """
                	chain input {
                		type filter hook input priority filter; policy accept;
                		iifname != "lo" tcp dport %1$d counter drop
                		iifname != "lo" tcp dport %2$d ct state untracked counter drop
                		iifname != "lo" tcp dport %2$d ct state new \
                add @pace { ip saddr limit rate over %3$d/second burst %4$d packets } drop
                		iifname != "lo" tcp dport %2$d ct state new \
                add @busy { ip saddr ct count over %5$d } drop
                	}
                """;
    }

    /** Returns the loopback network that represents the project's network: 127 and the last three numbers. */
    private String loopbackNetwork() {
        String text = network.toString();
        return "127" + text.substring(text.indexOf('.'));
    }

    /** Normalizes white space: nft breaks long lines at places of its own choice. */
    private static String words(String table) {
        return table.replaceAll("\\s+", " ").strip();
    }
}
