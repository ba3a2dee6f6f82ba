package org.cloister.lab;

import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Locale;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.cloister.protocol.image.ImageLayer;

/** Renders libvirt's description of a virtual machine: direct kernel boot of an image, and no unnecessary device. */
final class LabDomainXml {
    private final StringWriter text = new StringWriter();
    private final XMLStreamWriter xml;

    private LabDomainXml() throws XMLStreamException {
        xml = XMLOutputFactory.newFactory().createXMLStreamWriter(text);
    }

    /** Returns the description of one VM; the channels' sockets are created at the given paths. */
    static String of(LabVmSpec spec, LabAccelerator accelerator, Path agentSocket, Path labSocket, Path console) {
        try {
            LabDomainXml domain = new LabDomainXml();
            domain.write(spec, accelerator, agentSocket, labSocket, console);
            return domain.text.toString();
        } catch (XMLStreamException e) {
            throw new IllegalStateException("writing XML to memory", e);
        }
    }

    private void write(LabVmSpec spec, LabAccelerator accelerator, Path agentSocket, Path labSocket, Path console)
            throws XMLStreamException {
        open("domain", "type", accelerator.domainType());
        leaf("name", spec.name());
        leaf("memory", Integer.toString(spec.memoryMib()), "unit", "MiB");
        leaf("vcpu", Integer.toString(spec.cpus()));
        boot(spec);
        open("features");
        empty("acpi");
        empty("apic");
        close();
        open("cpu", "mode", accelerator.cpuMode());
        if (accelerator == LabAccelerator.TCG) {
            // As in agent-host's domains: with erms, pages would be cleared a byte at a time.
            empty("feature", "policy", "disable", "name", "erms");
            empty("feature", "policy", "disable", "name", "fsrm");
        }
        close();
        empty("clock", "offset", "utc");
        // A guest that stops for any reason is destroyed: it is not restarted, its host reports it.
        leaf("on_poweroff", "destroy");
        leaf("on_reboot", "destroy");
        leaf("on_crash", "destroy");
        open("devices");
        leaf("emulator", "/usr/bin/qemu-system-x86_64");
        disks(spec);
        empty("controller", "type", "usb", "model", "none");
        empty("controller", "type", "virtio-serial", "index", "0");
        channel(agentSocket, "org.cloister.agent.0");
        channel(labSocket, "org.cloister.lab.0");
        if (spec.vlan().isPresent()) {
            port(spec, spec.vlan().get());
        }
        open("serial", "type", "file");
        empty("source", "path", console.toString());
        empty("target", "port", "0");
        close();
        open("rng", "model", "virtio");
        leaf("backend", "/dev/urandom", "model", "random");
        close();
        empty("memballoon", "model", "none");
        close();
        close();
        xml.flush();
    }

    private void boot(LabVmSpec spec) throws XMLStreamException {
        Path image = spec.image();
        open("os");
        leaf("type", "hvm", "arch", "x86_64", "machine", "q35");
        leaf("loader", image.resolve(spec.manifest().firmware().name()).toString(), "readonly", "yes", "type", "rom");
        leaf("kernel", image.resolve(spec.manifest().kernel().name()).toString());
        leaf("initrd", image.resolve(spec.manifest().initrd().name()).toString());
        leaf("cmdline", spec.manifest().commandLine());
        empty("smbios", "mode", "sysinfo");
        close();
        offerCredential();
    }

    /** Offers the guest's systemd what a host could offer any guest; no image may take it. */
    private void offerCredential() throws XMLStreamException {
        open("sysinfo", "type", "smbios");
        open("oemStrings");
        leaf("entry", "io.systemd.credential:cloister.offered=text");
        close();
        close();
    }

    private void disks(LabVmSpec spec) throws XMLStreamException {
        int number = 0;
        for (ImageLayer layer : spec.manifest().layers()) {
            disk(number++, spec.image().resolve(layer.file().name()), layer.serial(), true);
        }
        for (Path disk : spec.disks()) {
            disk(number, disk, String.format(Locale.ROOT, "disk-%d", number), false);
            number++;
        }
    }

    private void disk(int number, Path file, String serial, boolean readonly) throws XMLStreamException {
        open("disk", "type", "file", "device", "disk");
        empty("driver", "name", "qemu", "type", "raw");
        empty("source", "file", file.toString());
        empty("target", "dev", "vd" + (char) ('a' + number), "bus", "virtio");
        leaf("serial", serial);
        if (readonly) {
            empty("readonly");
        }
        close();
    }

    private void channel(Path socket, String name) throws XMLStreamException {
        open("channel", "type", "unix");
        empty("source", "mode", "bind", "path", socket.toString());
        empty("target", "type", "virtio", "name", name);
        close();
    }

    /**
     * Adds the port. Offloads are off: the userspace bridge forwards frames unchanged, with checksums that no device
     * filled in.
     */
    private void port(LabVmSpec spec, int tag) throws XMLStreamException {
        open("interface", "type", "bridge");
        empty("source", "bridge", LabOpenVswitch.BRIDGE);
        empty("virtualport", "type", "openvswitch");
        open("vlan");
        empty("tag", "id", Integer.toString(tag));
        close();
        empty("target", "dev", spec.port());
        empty("model", "type", "virtio");
        open("driver");
        empty("host", "csum", "off", "gso", "off", "tso4", "off", "tso6", "off", "ecn", "off", "ufo", "off");
        empty("guest", "csum", "off", "tso4", "off", "tso6", "off", "ecn", "off", "ufo", "off");
        close();
        // No option ROM: no guest boots from the network.
        empty("rom", "enabled", "no");
        close();
    }

    private void open(String element, String... attributes) throws XMLStreamException {
        xml.writeStartElement(element);
        attributes(attributes);
    }

    private void close() throws XMLStreamException {
        xml.writeEndElement();
    }

    private void leaf(String element, String content, String... attributes) throws XMLStreamException {
        open(element, attributes);
        xml.writeCharacters(content);
        close();
    }

    private void empty(String element, String... attributes) throws XMLStreamException {
        xml.writeEmptyElement(element);
        attributes(attributes);
    }

    private void attributes(String... attributes) throws XMLStreamException {
        for (int i = 0; i < attributes.length; i += 2) {
            xml.writeAttribute(attributes[i], attributes[i + 1]);
        }
    }
}
