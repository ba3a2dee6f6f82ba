package org.cloister.host.machine;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.host.disk.ScratchName;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.DriveUse;
import org.cloister.host.vm.VmOwner;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Role;
import org.cloister.protocol.Digest;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;

/**
 * All of one VM that differs from other VMs, decided before anything of it is made; it lies in the VM's folder for as long as
 * the folder is there. No secret is in it.
 *
 * @param port of its tap, marked as {@link PortMark} does
 * @param mtu of its tap, in bytes
 * @param scratchBytes of its scratch disk, in whole MiB; the one whose file is called as {@link ScratchName} does
 * @param image the identity of what it starts from, SHA-384
 * @param sharing with whom it may share this host
 * @param drive of a controlling VM, among the domain's disks by {@link #DRIVE_SERIAL}; kept when the VM ends
 */
public record VmPlan(
        DomainSpec domain,
        PortPlan port,
        int mtu,
        OptionalLong scratchBytes,
        Digest image,
        Sharing sharing,
        Optional<DriveUse> drive) {
    /** Of the disk that the controlling VM finds by it. */
    public static final String DRIVE_SERIAL = "drive";

    static final int LEAST_MTU = 576;
    static final int MOST_MTU = 9216;

    private static final long MIB = 1 << 20;

    /** @throws IllegalArgumentException if a value is out of its range, or two do not go together */
    public VmPlan {
        VmOwner owner = domain.owner();
        requireSame("port's device", owner.name().tap(), port.device());
        requireSame("port's owner", PortMark.owner(owner), port.owner());
        requireSame("port's job", PortMark.job(owner), port.job());
        requireSame("port's MAC", domain.mac().text(), port.self().mac().text());
        if (mtu < LEAST_MTU || mtu > MOST_MTU) {
            throw new IllegalArgumentException("MTU: want " + LEAST_MTU + " to " + MOST_MTU + ", have " + mtu);
        }
        if (scratchBytes.isPresent() && (scratchBytes.getAsLong() < 1 || scratchBytes.getAsLong() % MIB != 0)) {
            throw new IllegalArgumentException(
                    "scratch disk: want whole MiB, at least one, have " + scratchBytes.getAsLong() + " bytes");
        }
        if (image.algorithm() != Digest.Algorithm.SHA384) {
            throw new IllegalArgumentException("image: want SHA-384, have " + image.algorithm());
        }
        List<Disk> scratch = domain.disks().stream()
                .filter(disk -> disk.file().endsWith(ScratchName.of(owner)))
                .toList();
        boolean isAsSaid = scratchBytes.isPresent()
                ? scratch.size() == 1 && scratch.get(0).use() == Disk.Use.WRITABLE
                : scratch.isEmpty();
        if (!isAsSaid) {
            throw new IllegalArgumentException("scratch disk: want " + (scratchBytes.isPresent() ? "one" : "none")
                    + " to write to among the domain's disks, have " + scratch);
        }
        requireDrive(domain, port, drive);
    }

    private static void requireDrive(DomainSpec domain, PortPlan port, Optional<DriveUse> drive) {
        List<Disk> disks = domain.disks().stream()
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
                    Role.CONTROLLER.name(),
                    port.role().name());
            if (disks.size() != 1
                    || disks.get(0).use() != Disk.Use.WRITABLE
                    || !disks.get(0).file().endsWith(name.file())) {
                throw new IllegalArgumentException(
                        "drive: want " + name.file() + " to write to among the domain's disks, have " + disks);
            }
        }
    }

    public VmOwner owner() {
        return domain.owner();
    }

    /** What this host vouches for when the VM asks, the same for all of its life. */
    public VmFacts facts() {
        VmOwner owner = owner();
        return new VmFacts(
                owner.project(),
                owner.life(),
                port.role() == Role.WORKER ? VmRole.WORKER : VmRole.CONTROLLER,
                owner.ticket(),
                owner.slot(),
                image,
                new Shape(domain.cpus().count(), domain.memoryMib(), scratchBytes.orElse(0) / MIB),
                sharing);
    }

    private static void requireSame(String what, String want, String have) {
        if (!want.equals(have)) {
            throw new IllegalArgumentException(what + ": want " + want + ", have " + have);
        }
    }
}
