package org.cloister.host.resources;

import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.scratch.ScratchFolder;

/** Providers that create, find and remove each kind of a VM's resources. */
public record ResourceProviders(
        VmFolders folders,
        ScratchFolder scratch,
        TapDevices taps,
        BridgePorts ports,
        Hypervisor hypervisor,
        DomainProcesses processes) {}
