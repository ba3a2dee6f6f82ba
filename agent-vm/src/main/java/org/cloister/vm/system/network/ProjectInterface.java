package org.cloister.vm.system.network;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.process.Nft;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.TunnelGuard;
import org.cloister.ipsec.TunnelMtu;

/**
 * The VM's interface in the project's network. It gets an address and a link only after the guard is installed and was
 * read back; after any failure its link is down. All operations are idempotent, so that another agent can repeat them
 * after this one was killed.
 */
public final class ProjectInterface {
    /** Seconds for which the kernel reports no further packet for a missing tunnel; charon sets a value of its own. */
    private static final String ACQUIRE = "net.core.xfrm_acq_expires";

    private static final int ACQUIRE_S = 2;

    private final ProcessRunner programs;

    public ProjectInterface(ProcessRunner programs) {
        this.programs = programs;
    }

    /** Brings the interface up with the plan's address, and with IPsec to the plan's machines only. */
    public void up(NetworkPlan plan) throws IOException {
        InterfaceState state = InterfaceState.withMac(InterfaceState.list(programs), plan.mac());
        boolean done = false;
        try {
            // A link that was already up may have carried packets without the guard.
            if (!isGuarded(state.name(), plan)) {
                down(state.name());
            }
            install(state.name(), plan);
            writeSettings("net.ipv6.conf." + state.name().replace('.', '/') + ".disable_ipv6");
            setAddress(state.name(), plan);
            requireAddress(plan);
            done = true;
        } finally {
            if (!done) {
                down(state.name());
            }
        }
    }

    /**
     * Replaces the permitted machines and changes nothing else: one transaction for each table, without interrupting
     * packets.
     */
    public void replacePeers(NetworkPlan plan) throws IOException {
        PeerFilterTable.of(
                        InterfaceState.withMac(InterfaceState.list(programs), plan.mac())
                                .name(),
                        plan)
                .install(programs);
    }

    /**
     * Verifies rules, address and MTU.
     *
     * @throws IOException if they are not the plan's any more
     */
    public void verify(NetworkPlan plan) throws IOException {
        InterfaceState state = requireAddress(plan);
        guard(state.name(), plan).verify(Nft.on(programs));
        PeerFilterTable.of(state.name(), plan).verify(programs);
    }

    private InterfaceState requireAddress(NetworkPlan plan) throws IOException {
        InterfaceState state = InterfaceState.withMac(InterfaceState.list(programs), plan.mac());
        List<String> expected = List.of(plan.own() + "/" + plan.prefix());
        if (!state.addresses().equals(expected) || state.mtu() != plan.mtu() || !state.up()) {
            throw new IOException("interface " + state.name() + ": want " + expected + " and MTU " + plan.mtu()
                    + ", have " + state.addresses() + " and " + state.mtu() + (state.up() ? "" : ", down"));
        }
        return state;
    }

    /** Removes address and link. The guard stays for as long as the VM lives. */
    public void down(NetworkPlan plan) throws IOException {
        downWithMac(plan.mac());
    }

    /** Removes address and link if only the MAC address of the plan is known. */
    public void downWithMac(String mac) throws IOException {
        down(InterfaceState.withMac(InterfaceState.list(programs), mac).name());
    }

    private boolean isGuarded(String device, NetworkPlan plan) {
        try {
            guard(device, plan).verify(Nft.on(programs));
            PeerFilterTable.of(device, plan).verify(programs);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void install(String device, NetworkPlan plan) throws IOException {
        guard(device, plan).install(Nft.on(programs));
        PeerFilterTable.of(device, plan).install(programs);
    }

    private static TunnelGuard guard(String device, NetworkPlan plan) {
        return TunnelGuard.of(device, plan.network(), new TunnelMtu(plan.mtu(), plan.esp()));
    }

    /** Runs several commands in one process, since each process takes time to start. */
    private void ip(String... lines) throws IOException {
        programs.runChecked(String.join("\n", lines) + "\n", List.of("ip", "-batch", "-"));
    }

    private void setAddress(String device, NetworkPlan plan) throws IOException {
        String expected = plan.own() + "/" + plan.prefix();
        for (String found : InterfaceState.withMac(InterfaceState.list(programs), plan.mac())
                .addresses()) {
            if (!found.equals(expected)) {
                programs.runChecked("ip", "address", "delete", found, "dev", device);
            }
        }
        ip(
                "link set lo up",
                "address replace " + expected + " dev " + device,
                "link set " + device + " mtu " + plan.mtu() + " up");
    }

    private void down(String device) throws IOException {
        ip("link set " + device + " down", "address flush dev " + device);
    }

    /** Writes the settings and reads them back. A kernel without IPv6 lacks the key, and has nothing to disable. */
    private void writeSettings(String noIpv6) throws IOException {
        List<String> keys = new ArrayList<>(List.of(ACQUIRE));
        List<String> expected = new ArrayList<>(List.of(Integer.toString(ACQUIRE_S)));
        if (hasIpv6()) {
            keys.add(noIpv6);
            expected.add("1");
        }
        List<String> write = new ArrayList<>(List.of("sysctl", "-q", "-w"));
        List<String> read = new ArrayList<>(List.of("sysctl", "-n"));
        for (int i = 0; i < keys.size(); i++) {
            write.add(keys.get(i) + "=" + expected.get(i));
            read.add(keys.get(i));
        }
        ProcessRunner.Output written = programs.run(write.toArray(String[]::new));
        List<String> found =
                programs.run(read.toArray(String[]::new)).out().lines().toList();
        if (!found.equals(expected)) {
            throw new IOException(keys + ": want " + expected + ", have " + found + ": " + written.errorSummary());
        }
    }

    private boolean hasIpv6() throws IOException {
        return programs.run("test", "-e", "/proc/sys/net/ipv6").exit() == 0;
    }
}
