package org.cloister.host.domain;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Writes a domain's devices: disks, one network card, one channel, a random number generator, and optionally a TPM.
 * There is no graphics, console, balloon or USB device, since each could be used to look into a guest or out of it.
 */
final class DomainDevicesXml {
    /** Name of the channel, by which the guest finds its device. */
    static final String CHANNEL = "org.cloister.agent.0";

    private static final String[] HOST_OFFLOADS = {
        "csum", "off", "gso", "off", "tso4", "off", "tso6", "off", "ecn", "off", "ufo", "off"
    };
    private static final String[] GUEST_OFFLOADS = {
        "csum", "off", "tso4", "off", "tso6", "off", "ecn", "off", "ufo", "off"
    };

    private final DomainSpec spec;
    private final IndentedXmlWriter xml;

    DomainDevicesXml(DomainSpec spec, IndentedXmlWriter xml) {
        this.spec = spec;
        this.xml = xml;
    }

    void write() {
        xml.open("devices");
        List<DomainDisk> disks = spec.disks();
        for (int i = 0; i < disks.size(); i++) {
            disk(disks.get(i), "vd" + (char) ('a' + i));
        }
        xml.empty("controller", "type", "usb", "model", "none");
        xml.open("controller", "type", "virtio-serial", "index", "0", "ports", "2");
        protectedDriver();
        xml.close();
        xml.open("channel", "type", "unix");
        xml.empty("source", "mode", "bind", "path", spec.channel().toString());
        xml.empty("target", "type", "virtio", "name", CHANNEL);
        xml.close();
        card();
        spec.debugConsole()
                .ifPresent(file -> xml.open("serial", "type", "file")
                        .empty("source", "path", file.toString())
                        .empty("target", "port", "0")
                        .close());
        if (spec.tpm()) {
            xml.open("tpm", "model", "tpm-crb");
            xml.empty("backend", "type", "emulator", "version", "2.0");
            xml.close();
        }
        xml.open("rng", "model", "virtio");
        xml.leaf("backend", "/dev/urandom", "model", "random");
        protectedDriver();
        xml.close();
        xml.empty("memballoon", "model", "none");
        xml.close();
    }

    private void disk(DomainDisk disk, String device) {
        xml.open("disk", "type", "file", "device", "disk");
        String queues = Integer.toString(spec.cpus().queues());
        if (disk.use() == DomainDisk.Use.LAYER) {
            xml.empty("driver", driver("name", "qemu", "type", "raw", "queues", queues));
        } else {
            // Blocks that the guest discards are returned to the host's file system.
            xml.empty(
                    "driver",
                    driver("name", "qemu", "type", "raw", "cache", "none", "discard", "unmap", "queues", queues));
        }
        if (disk.use() == DomainDisk.Use.LAYER) {
            // Otherwise libvirt makes the user that QEMU runs as the layer's owner, and never takes that back.
            xml.open("source", "file", disk.file().toString())
                    .empty("seclabel", "model", "dac", "relabel", "no")
                    .close();
        } else {
            xml.empty("source", "file", disk.file().toString());
        }
        xml.empty("target", "dev", device, "bus", "virtio");
        xml.leaf("serial", disk.serial());
        if (disk.use() == DomainDisk.Use.LAYER) {
            xml.empty("readonly");
        }
        xml.close();
    }

    /**
     * Writes the network card. Offloads are off: the userspace bridge forwards frames unchanged, and would forward them
     * with checksums that were never computed. QEMU moves the frames itself: the kernel's vhost threads would run
     * outside the step's cgroup, and would parse the guest's rings in the kernel.
     */
    private void card() {
        xml.open("interface", "type", "ethernet");
        xml.empty("mac", "address", spec.mac().text());
        xml.empty("target", "dev", spec.owner().names().tap(), "managed", "no");
        xml.empty("model", "type", "virtio");
        int queues = spec.cpus().queues();
        // With one queue there is no attribute: a tap created for one queue cannot be opened for several.
        xml.open(
                "driver",
                queues == 1 ? driver("name", "qemu") : driver("name", "qemu", "queues", Integer.toString(queues)));
        xml.empty("host", HOST_OFFLOADS);
        xml.empty("guest", GUEST_OFFLOADS);
        xml.close();
        // No option ROM, since nothing boots from the network.
        xml.empty("rom", "enabled", "no");
        xml.close();
    }

    /**
     * Adds the IOMMU attribute for a protected guest: devices reach its memory only where it permits that, so its
     * driver must know.
     */
    private String[] driver(String... attributes) {
        Optional<LaunchSecurity> security = spec.launchSecurity();
        if (security.isEmpty()) {
            return attributes;
        }
        String[] more = Arrays.copyOf(attributes, attributes.length + 2);
        more[attributes.length] = "iommu";
        more[attributes.length + 1] = "on";
        return more;
    }

    private void protectedDriver() {
        if (spec.launchSecurity().isPresent()) {
            xml.empty("driver", driver());
        }
    }
}
