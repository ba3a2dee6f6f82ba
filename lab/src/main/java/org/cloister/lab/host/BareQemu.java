package org.cloister.lab.host;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;

/**
 * Command line of QEMU as an administrator would start it by hand, with a domain's devices; disks, sockets and tap
 * exist already.
 */
final class BareQemu {
    private static final String OFFLOADS =
            "csum=off,gso=off,host_tso4=off,host_tso6=off,host_ecn=off,host_ufo=off,guest_csum=off,guest_tso4=off,"
                    + "guest_tso6=off,guest_ecn=off,guest_ufo=off";

    private BareQemu() {}

    /** @param spec with a console */
    static List<String> argv(DomainSpec spec, String tap) {
        String cpus = Integer.toString(spec.cpus().count());
        int queues = spec.cpus().queues();
        List<String> argv = new ArrayList<>(List.of("qemu-system-x86_64", "-nodefaults", "-no-user-config"));
        argv.addAll(List.of("-machine", "q35,vmport=off,usb=off,dump-guest-core=off,mem-merge=off"));
        argv.addAll(
                List.of("-accel", "tcg,tb-size=256", "-cpu", "max,erms=off,fsrm=off", "-m", spec.memoryMib() + "M"));
        argv.addAll(List.of("-smp", cpus + ",sockets=1,dies=1,cores=" + cpus + ",threads=1"));
        argv.addAll(List.of(
                "-display",
                "none",
                "-no-reboot",
                "-bios",
                spec.boot().firmware().toString()));
        argv.addAll(List.of("-kernel", spec.boot().kernel().toString()));
        argv.addAll(List.of("-initrd", spec.boot().initrd().toString()));
        argv.addAll(List.of("-append", spec.boot().commandLine()));
        for (int i = 0; i < spec.disks().size(); i++) {
            DomainDisk disk = spec.disks().get(i);
            String use = disk.use() == DomainDisk.Use.LAYER ? "readonly=on" : "cache=none,discard=unmap";
            argv.addAll(List.of("-drive", "if=none,id=d" + i + ",format=raw,file=" + disk.file() + "," + use));
            argv.addAll(List.of(
                    "-device",
                    String.format(
                            Locale.ROOT,
                            "virtio-blk-pci,drive=d%d,serial=%s,num-queues=%d",
                            i,
                            disk.serial(),
                            queues)));
        }
        argv.addAll(List.of("-device", "virtio-serial-pci,max_ports=2"));
        argv.addAll(List.of("-chardev", "socket,id=channel,server=on,wait=off,path=" + spec.channel()));
        argv.addAll(List.of("-device", "virtserialport,chardev=channel,name=org.cloister.agent.0"));
        argv.addAll(List.of("-netdev", "tap,id=net,ifname=" + tap + ",script=no,downscript=no,queues=" + queues));
        argv.addAll(List.of(
                "-device",
                "virtio-net-pci,netdev=net,rombar=0,mac=" + spec.mac().text() + ",mq=on,vectors=" + (2 * queues + 2)
                        + "," + OFFLOADS));
        argv.addAll(List.of("-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng"));
        argv.addAll(List.of(
                "-chardev", "file,id=console,path=" + spec.debugConsole().orElseThrow()));
        argv.addAll(List.of("-serial", "chardev:console"));
        return argv;
    }
}
