package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.ovs.BridgeConfig;

/** A compute host of the lab: its own Open vSwitch, libvirtd and slurmd. */
public final class LabHost {
    private final LabMachine machine;
    private final LabAccelerator accelerator;
    private final LabOpenVswitch ovs;
    private final LabLibvirt libvirt;

    private LabHost(LabMachine machine, LabAccelerator accelerator, LabOpenVswitch ovs, LabLibvirt libvirt) {
        this.machine = machine;
        this.accelerator = accelerator;
        this.ovs = ovs;
        this.libvirt = libvirt;
    }

    static LabHost of(LabMachine machine, LabAccelerator accelerator) throws IOException {
        return new LabHost(machine, accelerator, LabOpenVswitch.of(machine), LabLibvirt.of(machine));
    }

    public String name() {
        return machine.name();
    }

    public LabAccelerator accelerator() {
        return accelerator;
    }

    /** Returns its address on the management network. */
    public String address() {
        return machine.address();
    }

    public LabOpenVswitch ovs() {
        return ovs;
    }

    public LabLibvirt libvirt() {
        return libvirt;
    }

    /** Returns a command on this host, with the environment in which the tools find the host's own daemons. */
    public LabCommand command(String... argv) {
        return machine.command(List.of(argv)).with(ovs.environment());
    }

    /** Returns the Java with which the product's daemons run on this host. */
    public Path java() {
        return machine.sandbox().java();
    }

    /** Returns a folder on this host for a scenario's own files; removed with the lab. */
    public Path folder(String name) throws IOException {
        return machine.folder(name);
    }

    /** Returns the process whose namespaces are the host's, as seen from outside. */
    public long pid() {
        return machine.sandbox().pid();
    }

    /** Returns the configuration with which this host's bridge is managed from outside of the host. */
    public BridgeConfig bridge() {
        return bridge(ovs.folder(), pid());
    }

    /** Returns the same for another process, which knows only the host's folder of Open vSwitch and a process of it. */
    public static BridgeConfig bridge(Path folder, long pid) {
        return BridgeConfig.of(folder, LabNetwork.TRUNK_DEVICE)
                .withDatapath("netdev")
                .withNft(List.of("nsenter", "--target", Long.toString(pid), "--net", "/usr/sbin/nft"));
    }

    public Path log(String daemon) throws IOException {
        return machine.log(daemon);
    }

    /** Starts a virtual machine and returns before its system has booted: see {@link LabVm#awaitRunner}. */
    public LabVm boot(LabVmSpec spec) throws IOException {
        return LabVm.start(machine, accelerator, libvirt, spec);
    }

    LabMachine machine() {
        return machine;
    }
}
