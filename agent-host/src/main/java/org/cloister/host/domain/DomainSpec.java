package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.address.MacAddress;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.ticket.MemoryFormula;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Specification of a domain; it contains everything that differs between VMs.
 *
 * @param memoryMib as configured in QEMU, {@link MemoryFormula#vm()}
 * @param disks in the order in which the guest sees them; it finds them by their serials
 * @param mac of its one network card. Its tap must exist, with the name that the owner gives it and as many queues as
 *     {@link CpuPlacement#queues()}; libvirt opens the tap and does not delete it
 * @param channel the socket of its virtio-serial port, which QEMU creates
 * @param tpm whether it has a software TPM, whose quotes prove nothing beyond the host's signature
 * @param debugConsole a file for a serial console; never set in production
 */
public record DomainSpec(
        ResourceOwner owner,
        Accelerator accelerator,
        DirectKernelBoot boot,
        CpuPlacement cpus,
        int memoryMib,
        MemoryBacking backing,
        List<DomainDisk> disks,
        MacAddress mac,
        Path channel,
        boolean tpm,
        Optional<LaunchSecurity> launchSecurity,
        Optional<Path> debugConsole) {
    /** Number of device names from vda to vdz. */
    public static final int MAX_DISKS = 26;

    private static final int KIB = 1 << 10;

    /** @throws IllegalArgumentException if a value is out of its range, or two values contradict each other */
    public DomainSpec {
        disks = List.copyOf(disks);
        if (memoryMib < 1 || memoryMib > ResourceRequest.MAX_MIB) {
            throw new IllegalArgumentException(
                    "memory: want 1 to " + ResourceRequest.MAX_MIB + " MiB, have " + memoryMib);
        }
        int page = backing.hugepageKib().orElse(1);
        if ((long) memoryMib * KIB % page != 0) {
            throw new IllegalArgumentException(
                    "memory: want whole hugepages of " + page + " KiB, have " + memoryMib + " MiB");
        }
        if (launchSecurity.isPresent() && accelerator != Accelerator.KVM) {
            throw new IllegalArgumentException("launch security: want kvm, have " + accelerator);
        }
        DomainPaths.requireSocket("channel", channel);
        debugConsole.ifPresent(file -> DomainPaths.require("debug console", file));
        requireDisks(disks);
    }

    private static void requireDisks(List<DomainDisk> disks) {
        if (disks.size() > MAX_DISKS) {
            throw new IllegalArgumentException("disks: want at most " + MAX_DISKS + ", have " + disks.size());
        }
        Set<Object> used = new HashSet<>();
        for (DomainDisk disk : disks) {
            if (!used.add(disk.serial()) || !used.add(disk.file())) {
                throw new IllegalArgumentException("disks: want each file and serial once, have " + disk + " again");
            }
        }
    }
}
