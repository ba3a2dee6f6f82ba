package org.cloister.vm.system.network;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.TunnelGuard;
import org.cloister.ipsec.TunnelMtu;
import org.cloister.ipsec.TunnelNft;

/**
 * The VM's interface in the project's network, which has neither an address nor a link before the guard is there and was
 * read back. Whatever fails, the link is down afterwards. All of it may be done again, by another agent after this one was
 * killed.
 */
public final class ProjectInterface {
    /** Seconds for which the kernel tells nobody of a further packet for a tunnel that is not there; charon sets its own. */
    private static final String ACQUIRE = "net.core.xfrm_acq_expires";

    private static final int ACQUIRE_S = 2;

    private final ProcessRunner programs;

    public ProjectInterface(ProcessRunner programs) {
        this.programs = programs;
    }

    /** The interface carries the plan's address, and IPsec with the plan's machines alone. */
    public void up(NetworkPlan plan) throws IOException {
        InterfaceState link = InterfaceState.withMac(InterfaceState.list(programs), plan.mac());
        boolean done = false;
        try {
            // A link that somebody else left up is not one that the guard was before.
            if (!isGuarded(link.name(), plan)) {
                down(link.name());
            }
            install(link.name(), plan);
            loopback();
            settings("net.ipv6.conf." + link.name().replace('.', '/') + ".disable_ipv6");
            address(link.name(), plan);
            requireAddress(plan);
            done = true;
        } finally {
            if (!done) {
                down(link.name());
            }
        }
    }

    /** Other machines, and nothing else changed: in one transaction each, while packets go on. */
    public void replacePeers(NetworkPlan plan) throws IOException {
        PeerFilterTable.of(
                        InterfaceState.withMac(InterfaceState.list(programs), plan.mac())
                                .name(),
                        plan)
                .install(programs);
    }

    /** @throws IOException if rules, address or MTU are not the plan's any more */
    public void verify(NetworkPlan plan) throws IOException {
        InterfaceState link = requireAddress(plan);
        guard(link.name(), plan).verify(nft());
        PeerFilterTable.of(link.name(), plan).verify(programs);
    }

    private InterfaceState requireAddress(NetworkPlan plan) throws IOException {
        InterfaceState link = InterfaceState.withMac(InterfaceState.list(programs), plan.mac());
        List<String> wanted = List.of(plan.own() + "/" + plan.prefix());
        if (!link.addresses().equals(wanted) || link.mtu() != plan.mtu() || !link.up()) {
            throw new IOException("interface " + link.name() + ": want " + wanted + " and MTU " + plan.mtu() + ", have "
                    + link.addresses() + " and " + link.mtu() + (link.up() ? "" : ", down"));
        }
        return link;
    }

    /** No address and no link. The guard stays for as long as the VM lives. */
    public void down(NetworkPlan plan) throws IOException {
        downWithMac(plan.mac());
    }

    /** The same, for who knows no more of a plan. */
    public void downWithMac(String mac) throws IOException {
        down(InterfaceState.withMac(InterfaceState.list(programs), mac).name());
    }

    private boolean isGuarded(String device, NetworkPlan plan) {
        try {
            guard(device, plan).verify(nft());
            PeerFilterTable.of(device, plan).verify(programs);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void install(String device, NetworkPlan plan) throws IOException {
        guard(device, plan).install(nft());
        PeerFilterTable.of(device, plan).install(programs);
    }

    private static TunnelGuard guard(String device, NetworkPlan plan) {
        return TunnelGuard.of(device, plan.network(), new TunnelMtu(plan.mtu(), plan.esp()));
    }

    private TunnelNft nft() {
        return new TunnelNft(programs.argv(List.of("/usr/sbin/nft")));
    }

    /** With acknowledgements at once: slurmctld waits for slurmdbd's answer in two pieces (docs/slurm.md). */
    private void loopback() throws IOException {
        ip("link set lo up", route("127.0.0.0/8"), route("127.0.0.1"));
    }

    private static String route(String network) {
        return "route change table local local " + network + " dev lo proto kernel scope host src 127.0.0.1 quickack 1";
    }

    /** Each is a process less to start. */
    private void ip(String... lines) throws IOException {
        programs.runChecked(String.join("\n", lines) + "\n", List.of("ip", "-batch", "-"));
    }

    private void address(String device, NetworkPlan plan) throws IOException {
        String wanted = plan.own() + "/" + plan.prefix();
        for (String found : InterfaceState.withMac(InterfaceState.list(programs), plan.mac())
                .addresses()) {
            if (!found.equals(wanted)) {
                programs.runChecked("ip", "address", "delete", found, "dev", device);
            }
        }
        ip("address replace " + wanted + " dev " + device, "link set " + device + " mtu " + plan.mtu() + " up");
    }

    private void down(String device) throws IOException {
        ip("link set " + device + " down", "address flush dev " + device);
    }

    /** Written and read back: a kernel without IPv6 has no such key, and has nothing to switch off. */
    private void settings(String noIpv6) throws IOException {
        List<String> keys = new ArrayList<>(List.of(ACQUIRE));
        List<String> wanted = new ArrayList<>(List.of(Integer.toString(ACQUIRE_S)));
        if (hasIpv6()) {
            keys.add(noIpv6);
            wanted.add("1");
        }
        List<String> write = new ArrayList<>(List.of("sysctl", "-q", "-w"));
        List<String> read = new ArrayList<>(List.of("sysctl", "-n"));
        for (int i = 0; i < keys.size(); i++) {
            write.add(keys.get(i) + "=" + wanted.get(i));
            read.add(keys.get(i));
        }
        ProcessRunner.Output written = programs.run(write.toArray(String[]::new));
        List<String> found =
                programs.run(read.toArray(String[]::new)).out().lines().toList();
        if (!found.equals(wanted)) {
            throw new IOException(keys + ": want " + wanted + ", have " + found + ": " + written.errorSummary());
        }
    }

    private boolean hasIpv6() throws IOException {
        return programs.run("test", "-e", "/proc/sys/net/ipv6").exit() == 0;
    }
}
