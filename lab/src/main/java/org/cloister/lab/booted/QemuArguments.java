package org.cloister.lab.booted;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Command line of a booted machine's QEMU. */
final class QemuArguments {
    /**
     * Shows the guest an AMD processor with SVM and nested paging, so that /dev/kvm works in it. With la57 and erms it
     * was not tried; with fsrm alone Debian 12's kernel stops before its first process.
     */
    private static final String CPU = "max,erms=off,fsrm=off,la57=off";

    private QemuArguments() {}

    static List<String> of(BootedMachine machine) throws IOException {
        List<String> argv = new ArrayList<>(List.of(
                "qemu-system-x86_64",
                "-name",
                machine.name(),
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-daemonize",
                "-pidfile",
                machine.pid().toString(),
                "-machine",
                "q35,usb=off,vmport=off",
                "-accel",
                "tcg,thread=multi,tb-size=512",
                "-cpu",
                CPU,
                "-smp",
                Integer.toString(machine.cpus()),
                "-m",
                Integer.toString(machine.memoryMib())));
        argv.addAll(boot(machine));
        argv.addAll(devices(machine));
        return argv;
    }

    private static List<String> boot(BootedMachine machine) throws IOException {
        String address =
                "%s::%s1:255.255.255.0:%s:eth0:none".formatted(machine.address(), BootedNetwork.PREFIX, machine.name());
        return List.of(
                "-kernel",
                machine.disk().kernel().toString(),
                "-initrd",
                machine.disk().initrd().toString(),
                "-append",
                "root=/dev/vda rw console=ttyS0 net.ifnames=0 ip=" + address + " systemd.hostname=" + machine.name()
                        + units(machine) + " " + machine.disk().append(),
                "-serial",
                "file:" + machine.console());
    }

    /** Returns the kernel's words for units: {@code systemctl enable} takes half a minute of an emulated machine. */
    private static String units(BootedMachine machine) {
        return machine.units().stream()
                .map(unit -> " systemd.wants=" + unit + ".service")
                .collect(Collectors.joining());
    }

    private static List<String> devices(BootedMachine machine) {
        List<String> argv = new ArrayList<>(List.of(
                "-drive",
                "file=" + machine.folder().resolve("disk") + ",format=qcow2,if=none,id=d0,cache=unsafe,discard=unmap",
                "-device",
                "virtio-blk-pci,drive=d0",
                "-object",
                "rng-random,id=r0,filename=/dev/urandom",
                "-device",
                "virtio-rng-pci,rng=r0"));
        for (int i = 0; i < BootedNetwork.BRIDGES.size(); i++) {
            String bridge = BootedNetwork.BRIDGES.get(i);
            argv.addAll(List.of(
                    "-netdev",
                    "tap,id=n%d,ifname=%s,script=no,downscript=no"
                            .formatted(i, BootedNetwork.tap(bridge, machine.name())),
                    "-device",
                    "virtio-net-pci,netdev=n%d,mac=52:54:00:c1:%02x:%02x".formatted(i, i, machine.number())));
        }
        return argv;
    }
}
