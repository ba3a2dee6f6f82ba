package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Unit of systemd that runs QEMU's domains: the daemon for all drivers, or the one for QEMU alone, as in RHEL 9. */
public final class LibvirtUnit {
    private static final String ALL_DRIVERS = "libvirtd";
    private static final String QEMU_ALONE = "virtqemud";

    /** Units that may run, of which a host has one or both. */
    public static final List<String> ALL = List.of(ALL_DRIVERS, QEMU_ALONE);

    private LibvirtUnit() {}

    /** Returns the name. The daemon for QEMU alone has another one beside it that answers on the older socket, too. */
    static String of(InspectedMachine machine) throws UndeterminedException {
        Optional<List<String>> sockets = machine.list("/run/libvirt");
        boolean alone = sockets.isPresent() && sockets.get().contains(QEMU_ALONE + "-sock");
        boolean only = machine.find(QEMU_ALONE).isPresent()
                && machine.find(ALL_DRIVERS).isEmpty();
        return alone || only ? QEMU_ALONE : ALL_DRIVERS;
    }
}
