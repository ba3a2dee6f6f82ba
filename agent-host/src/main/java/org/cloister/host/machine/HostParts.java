package org.cloister.host.machine;

import org.cloister.host.disk.ScratchFolder;
import org.cloister.host.libvirt.Hypervisor;

/** Where everything of a VM is made, found and taken away. */
public record HostParts(
        VmFolders folders, ScratchFolder scratch, Taps taps, Ports ports, Hypervisor hypervisor, Processes processes) {}
