package org.cloister.lab.host;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import org.cloister.host.libvirt.LibvirtHypervisor;
import org.cloister.host.reconcile.HostBackend;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.VmBuilder;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmTimeouts;
import org.cloister.host.resources.BridgePorts;
import org.cloister.host.resources.DomainProcesses;
import org.cloister.host.resources.ErasureListener;
import org.cloister.host.resources.LocalHostBackend;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.resources.TapDevices;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.scratch.ErasureMethod;
import org.cloister.host.scratch.ScratchFolder;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.ovs.BridgeConfig;
import org.cloister.ovs.SecureBridge;

/** The parts of agent-host that make VMs on one host, from a process in that host's namespaces. */
public record AgentHostMachine(
        ResourceProviders parts, VmLedger ledger, VmBuilder building, SecureBridge bridge, InstantSource clock)
        implements AutoCloseable {
    public static final Duration LIMIT = Duration.ofSeconds(20);

    private static final long SCRATCH_BUDGET = 1L << 30;
    private static final Duration REGISTER = Duration.ofMinutes(5);
    private static final Duration UNRESPONSIVE = Duration.ofMinutes(10);
    private static final Duration PASS_PERIOD = Duration.ofSeconds(60);

    /**
     * @param state folder of ledger and VMs
     * @param scratch folder of their disks
     * @param ovs folder of Open vSwitch's sockets
     * @param uri libvirt's
     */
    public static AgentHostMachine open(Path state, Path scratch, Path ovs, String uri) throws IOException {
        InstantSource clock = InstantSource.system();
        VmFolders folders = new VmFolders(Files.createDirectories(state.resolve("vms")));
        VmLedger ledger = VmLedger.open(state.resolve("ledger"));
        SecureBridge bridge =
                SecureBridge.open(BridgeConfig.of(ovs, "trunk0").withDatapath("netdev"), new MetricRegistry());
        ResourceProviders parts = new ResourceProviders(
                folders,
                new ScratchFolder(scratch, SCRATCH_BUDGET),
                new TapDevices(Path.of("/sbin/ip"), LIMIT),
                new BridgePorts(bridge, folders),
                new LibvirtHypervisor(uri, LIMIT),
                new DomainProcesses(Path.of("/run/libvirt/qemu"), CgroupAttacher.DIRECT, CgroupJobStep.NUMBERED));
        return new AgentHostMachine(parts, ledger, new VmBuilder(ledger, clock), bridge, clock);
    }

    public HostVmPlans plans(Path image) {
        return new HostVmPlans(parts.folders(), parts.scratch(), image);
    }

    public LocalHostBackend local(ErasureListener erasures) {
        return new LocalHostBackend(parts, ErasureMethod.OVERWRITE, erasures, LIMIT);
    }

    /**
     * Returns a reconcile loop that receives the hypervisor's events; the caller starts it.
     *
     * @param machine what it inspects and changes
     */
    public ReconcileLoop rounds(HostBackend machine, Duration powerOff) {
        VmTimeouts times = new VmTimeouts(REGISTER, UNRESPONSIVE, powerOff);
        ReconcilePass pass = new ReconcilePass(ledger, building, machine, times, clock);
        ReconcileLoop loop = new ReconcileLoop(pass, parts.ports()::adoptFoundPorts, PASS_PERIOD, clock);
        parts.hypervisor().setListener(loop::onHypervisorEvent);
        return loop;
    }

    @Override
    public void close() throws IOException {
        parts.hypervisor().close();
        bridge.close();
        ledger.close();
    }
}
