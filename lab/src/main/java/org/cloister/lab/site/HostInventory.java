package org.cloister.lab.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.lab.LabHost;
import org.cloister.lab.host.AgentHostFiles;
import org.cloister.ovs.BridgeView;

/** Inventory of a host's VM resources, read with the ordinary tools, and foreign objects that must be left alone. */
public final class HostInventory implements AutoCloseable {
    /** Has a name like Cloister's, and no owner's mark. */
    private static final String FOREIGN_TAP = "cl-zzzzzzzz0";

    private static final String FOREIGN_FOLDER = "cloister-zzzzzzzzzzzzzzzz-0";
    private static final String FOREIGN_PORT = "other0";
    /** Number of the objects above whose names are like Cloister's. */
    public static final int ORPHANS = 2;

    private final LabHost host;
    private final Path folder;
    private final Path note;

    public HostInventory(LabHost host) throws IOException {
        this.host = host;
        this.folder = AgentHostFiles.state(host).resolve("vms").resolve(FOREIGN_FOLDER);
        this.note = AgentHostFiles.scratch(host).resolve("note");
    }

    public void createForeignObjects() throws IOException {
        host.command("ip", "tuntap", "add", "dev", FOREIGN_TAP, "mode", "tap").succeed();
        host.ovs()
                .vsctl("add-port", "br-secure", FOREIGN_PORT, "--", "set", "interface", FOREIGN_PORT, "type=internal");
        Files.createDirectories(folder);
        Files.writeString(note, "of somebody else");
    }

    public boolean isForeignThere() throws IOException {
        return devices().contains(FOREIGN_TAP)
                && ports().contains(FOREIGN_PORT)
                && Files.isDirectory(folder)
                && Files.exists(note);
    }

    /** Returns the VM's resources by kind; empty when all are removed. */
    public Set<String> of(ResourceOwner owner) throws IOException {
        Set<String> there = new TreeSet<>();
        String name = owner.names().domain();
        if (host.libvirt().running().contains(name)) {
            there.add("domain " + host.libvirt().virsh("domstate", name).strip().toLowerCase(Locale.ROOT));
        }
        if (devices().contains(owner.names().tap())) {
            there.add("tap");
        }
        if (ports().contains(owner.names().tap())) {
            there.add("port");
        }
        if (Files.exists(AgentHostFiles.state(host).resolve("vms").resolve(name).resolve("vm.json"))) {
            there.add("folder");
        }
        try (Stream<Path> files = Files.list(AgentHostFiles.scratch(host))) {
            if (files.anyMatch(file -> file.getFileName().toString().contains(owner.uuid()))) {
                there.add("scratch");
            }
        }
        return there;
    }

    /** Returns the resources of a running VM. */
    public static Set<String> completeVm() {
        return new TreeSet<>(List.of("domain running", "tap", "port", "folder", "scratch"));
    }

    /**
     * Returns what is left of all VMs, without the foreign objects: devices, folders and their files, scratch files,
     * processes.
     */
    public Set<String> all() throws IOException {
        Set<String> all = new TreeSet<>();
        devices().stream()
                .filter(device -> device.startsWith("cl-") && !device.equals(FOREIGN_TAP))
                .forEach(all::add);
        ports().stream().filter(port -> port.startsWith("cl-")).forEach(port -> all.add("port " + port));
        for (Path each : List.of(AgentHostFiles.state(host).resolve("vms"), AgentHostFiles.scratch(host))) {
            try (Stream<Path> files = Files.list(each)) {
                files.filter(file -> !file.equals(folder) && !file.equals(note))
                        .forEach(file -> all.add(file.toString()));
            }
        }
        host.command("pgrep", "-a", "qemu-system").run().out().lines().forEach(all::add);
        return all;
    }

    /** Returns the differences of ports and flows from the plans in the bridge's rows. */
    public List<String> bridgeDifferences() throws IOException {
        return BridgeView.read(host.bridge()).differences().stream()
                .map(Object::toString)
                .toList();
    }

    private List<String> devices() throws IOException {
        return host.command("ls", "/sys/class/net").succeed().lines().toList();
    }

    private List<String> ports() throws IOException {
        return host.ovs().vsctl("list-ports", "br-secure").lines().toList();
    }

    @Override
    public void close() throws IOException {
        host.ovs().vsctl("--if-exists", "del-port", "br-secure", FOREIGN_PORT);
        host.command("ip", "link", "delete", FOREIGN_TAP).run();
        Files.deleteIfExists(folder);
        Files.deleteIfExists(note);
    }
}
