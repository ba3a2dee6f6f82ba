package org.cloister.host.machine;

import java.util.List;
import java.util.OptionalLong;
import org.cloister.host.disk.ScratchName;
import org.cloister.host.domain.Disk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.vm.VmOwner;
import org.cloister.ovs.PortPlan;

/**
 * All of one VM that differs from other VMs, decided before anything of it is made; it lies in the VM's folder for as long as
 * the folder is there. No secret is in it.
 *
 * @param port of its tap, marked as {@link PortMark} does
 * @param mtu of its tap, in bytes
 * @param scratchBytes of its scratch disk, which is the one whose file is called as {@link ScratchName} does
 */
public record VmPlan(DomainSpec domain, PortPlan port, int mtu, OptionalLong scratchBytes) {
    static final int LEAST_MTU = 576;
    static final int MOST_MTU = 9216;

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
        if (scratchBytes.isPresent() && scratchBytes.getAsLong() < 1) {
            throw new IllegalArgumentException("scratch disk: want at least 1 byte, have " + scratchBytes.getAsLong());
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
    }

    public VmOwner owner() {
        return domain.owner();
    }

    private static void requireSame(String what, String want, String have) {
        if (!want.equals(have)) {
            throw new IllegalArgumentException(what + ": want " + want + ", have " + have);
        }
    }
}
