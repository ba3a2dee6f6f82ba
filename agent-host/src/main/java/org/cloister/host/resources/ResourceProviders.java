package org.cloister.host.resources;

import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.scratch.ScratchFolder;

/** Where everything of a VM is made, found and taken away. */
public record ResourceProviders(
        VmFolders folders,
        ScratchFolder scratch,
        TapDevices taps,
        BridgePorts ports,
        Hypervisor hypervisor,
        DomainProcesses processes) {}
