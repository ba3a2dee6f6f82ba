package org.cloister.host.resources;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.base.encoding.Digest;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.scratch.ScratchFileName;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRole;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;

/**
 * Complete plan of one VM, decided before any of its resources exists, and stored in the VM's folder for as long as the
 * folder exists. It contains no secret.
 *
 * @param port of its tap, labelled as in {@link PortOwnerLabels}
 * @param mtu of its tap, in bytes
 * @param scratchBytes size of its scratch disk in bytes, a multiple of 1 MiB; {@link ScratchFileName} names the disk's
 *     file
 * @param image SHA-384 identity of the image that it boots from
 * @param sharing with which projects it may share this host
 * @param drive of a controlling VM, the domain's disk with the serial {@link #DRIVE_SERIAL}; kept when the VM ends
 */
public record VmPlan(
        DomainSpec domain,
        PortPlan port,
        int mtu,
        OptionalLong scratchBytes,
        Digest image,
        HostSharing sharing,
        Optional<DriveClaim> drive) {
    /** Serial of the drive, by which the controlling VM finds it. */
    public static final String DRIVE_SERIAL = "drive";

    static final int MIN_MTU = 576;
    static final int MAX_MTU = 9216;

    private static final long MIB = 1 << 20;

    /** @throws IllegalArgumentException if a value is out of its range, or two values contradict each other */
    public VmPlan {
        ResourceOwner owner = domain.owner();
        requireSame("port's device", owner.names().tap(), port.device());
        requireSame("port's owner", PortOwnerLabels.owner(owner), port.owner());
        requireSame("port's job", PortOwnerLabels.job(owner), port.job());
        requireSame("port's MAC", domain.mac().text(), port.self().mac().text());
        if (mtu < MIN_MTU || mtu > MAX_MTU) {
            throw new IllegalArgumentException("MTU: want " + MIN_MTU + " to " + MAX_MTU + ", have " + mtu);
        }
        if (scratchBytes.isPresent() && (scratchBytes.getAsLong() < 1 || scratchBytes.getAsLong() % MIB != 0)) {
            throw new IllegalArgumentException(
                    "scratch disk: want whole MiB, at least one, have " + scratchBytes.getAsLong() + " bytes");
        }
        if (image.algorithm() != Digest.Algorithm.SHA384) {
            throw new IllegalArgumentException("image: want SHA-384, have " + image.algorithm());
        }
        List<DomainDisk> scratch = domain.disks().stream()
                .filter(disk -> disk.file().endsWith(ScratchFileName.of(owner)))
                .toList();
        boolean isAsPlanned = scratchBytes.isPresent()
                ? scratch.size() == 1 && scratch.get(0).use() == DomainDisk.Use.WRITABLE
                : scratch.isEmpty();
        if (!isAsPlanned) {
            throw new IllegalArgumentException("scratch disk: want " + (scratchBytes.isPresent() ? "one" : "none")
                    + " to write to among the domain's disks, have " + scratch);
        }
        requireDrive(domain, port, drive);
    }

    private static void requireDrive(DomainSpec domain, PortPlan port, Optional<DriveClaim> drive) {
        List<DomainDisk> disks = domain.disks().stream()
                .filter(disk -> disk.serial().equals(DRIVE_SERIAL))
                .toList();
        if (drive.isEmpty() && !disks.isEmpty()) {
            throw new IllegalArgumentException("drive: want none among the domain's disks, have " + disks);
        }
        if (drive.isPresent()) {
            DriveName name = drive.get().drive();
            requireSame("drive's project", domain.owner().project(), name.project());
            requireSame(
                    "role of a VM with a drive",
                    PortRole.CONTROLLER.name(),
                    port.role().name());
            if (disks.size() != 1
                    || disks.get(0).use() != DomainDisk.Use.WRITABLE
                    || !disks.get(0).file().endsWith(name.file())) {
                throw new IllegalArgumentException(
                        "drive: want " + name.file() + " to write to among the domain's disks, have " + disks);
            }
        }
    }

    public ResourceOwner owner() {
        return domain.owner();
    }

    /** Returns the facts that this host states in evidence, the same for the whole run of the VM. */
    public VmFacts facts() {
        ResourceOwner owner = owner();
        return new VmFacts(
                owner.project(),
                owner.vmId(),
                port.role() == PortRole.WORKER ? VmRole.WORKER : VmRole.CONTROLLER,
                owner.ticket(),
                owner.slot(),
                image,
                new VmShape(domain.cpus().count(), domain.memoryMib(), scratchBytes.orElse(0) / MIB),
                sharing);
    }

    private static void requireSame(String what, String want, String have) {
        if (!want.equals(have)) {
            throw new IllegalArgumentException(what + ": want " + want + ", have " + have);
        }
    }
}
