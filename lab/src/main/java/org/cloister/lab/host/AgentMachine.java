package org.cloister.lab.host;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.cloister.host.disk.Erasing;
import org.cloister.host.disk.ScratchFolder;
import org.cloister.host.ledger.Building;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Round;
import org.cloister.host.ledger.Times;
import org.cloister.host.libvirt.LibvirtHypervisor;
import org.cloister.host.machine.Erasures;
import org.cloister.host.machine.HostParts;
import org.cloister.host.machine.LocalMachine;
import org.cloister.host.machine.Ports;
import org.cloister.host.machine.Processes;
import org.cloister.host.machine.Rounds;
import org.cloister.host.machine.Taps;
import org.cloister.host.machine.VmFolders;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.SecureBridge;

/** agent-host, reduced to its machine: what it makes VMs with on one host, from a process in that host's namespaces. */
public record AgentMachine(HostParts parts, Ledger ledger, Building building, SecureBridge bridge, InstantSource clock)
        implements AutoCloseable {
    public static final Duration LIMIT = Duration.ofSeconds(20);

    private static final long SCRATCH_BUDGET = 1L << 30;
    private static final Duration REGISTER = Duration.ofMinutes(5);
    private static final Duration ROUND = Duration.ofSeconds(60);

    /**
     * @param state folder of ledger and VMs
     * @param scratch folder of their disks
     * @param ovs folder of Open vSwitch's sockets
     * @param uri libvirt's
     */
    public static AgentMachine open(Path state, Path scratch, Path ovs, String uri) throws IOException {
        InstantSource clock = InstantSource.system();
        VmFolders folders = new VmFolders(Files.createDirectories(state.resolve("vms")));
        Ledger ledger = Ledger.open(state.resolve("ledger"));
        SecureBridge bridge =
                SecureBridge.open(BridgeConfig.of(ovs, "trunk0").withDatapath("netdev"), new MetricRegistry());
        HostParts parts = new HostParts(
                folders,
                new ScratchFolder(scratch, SCRATCH_BUDGET),
                new Taps(Path.of("/sbin/ip"), LIMIT),
                new Ports(bridge, folders),
                new LibvirtHypervisor(uri, LIMIT),
                new Processes(Path.of("/run/libvirt/qemu")));
        return new AgentMachine(parts, ledger, new Building(ledger, clock), bridge, clock);
    }

    public Plans plans(Path image) {
        return new Plans(parts.folders(), parts.scratch(), image);
    }

    public LocalMachine local(Erasures erasures) {
        return new LocalMachine(parts, Erasing.OVERWRITE, erasures, LIMIT);
    }

    /**
     * They hear of the hypervisor's changes, and are to be started.
     *
     * @param machine what they look at and change
     */
    public Rounds rounds(Machine machine, Duration powerOff) {
        Round round = new Round(ledger, building, machine, new Times(REGISTER, powerOff), clock);
        Rounds rounds = new Rounds(round, parts.ports()::tell, ROUND, clock);
        parts.hypervisor().listen(rounds::heard);
        return rounds;
    }

    @Override
    public void close() throws IOException {
        parts.hypervisor().close();
        bridge.close();
        ledger.close();
    }
}
