package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A machine's own libvirtd. It knows only domains that were started in this lab on this machine. */
public final class LabLibvirt {
    private static final Duration START_LIMIT = Duration.ofMinutes(1);
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final LabMachine machine;
    private final Path folder;

    private LabLibvirt(LabMachine machine, Path folder) {
        this.machine = machine;
        this.folder = folder;
    }

    static LabLibvirt of(LabMachine machine) throws IOException {
        machine.socket("libvirt/libvirt-admin-sock");
        return new LabLibvirt(machine, machine.folder("sock/libvirt"));
    }

    /** Starts libvirtd, also after {@link #kill}: it finds running domains again. */
    public void start(LabOpenVswitch ovs) throws IOException {
        Path etc = machine.folder("etc/libvirt");
        Files.writeString(etc.resolve("qemu.conf"), """
                user = "root"
                group = "root"
                dynamic_ownership = 0
                remember_owner = 0
                security_driver = "none"
                security_default_confined = 0
                cgroup_controllers = [ ]
                namespaces = [ ]
                stdio_handler = "file"
                swtpm_user = "root"
                swtpm_group = "root"
                """);
        Files.writeString(etc.resolve("libvirtd.conf"), """
                auth_unix_ro = "none"
                auth_unix_rw = "none"
                unix_sock_group = "root"
                unix_sock_rw_perms = "0700"
                unix_sock_dir = "%s"
                log_outputs = "2:file:%s"
                """.formatted(folder, machine.log("libvirtd")));
        machine.command("libvirtd", "-d", "-f", etc.resolve("libvirtd.conf").toString(), "-p", "/run/libvirtd.pid")
                .with(ovs.environment())
                .within(START_LIMIT)
                .succeed();
        machine.await("libvirtd", machine.log("libvirtd"), START_LIMIT, this::answers);
    }

    /** Kills libvirtd as a crash does: domains keep running. The process has ended when this returns. */
    public void kill() throws IOException {
        machine.signal("libvirtd", "KILL");
    }

    /** Returns the URI to which an ordinary client connects. */
    public String uri() {
        return "qemu+unix:///system?socket=" + folder.resolve("libvirt-sock");
    }

    public String virsh(String... arguments) throws IOException {
        return tool(List.of(arguments), "").succeed();
    }

    /** Starts a transient domain; libvirt's schema validates its description. */
    void create(String xml) throws IOException {
        tool(List.of("create", "--validate", "/dev/stdin"), xml).succeed();
    }

    public List<String> running() throws IOException {
        return virsh("list", "--name").lines().filter(name -> !name.isBlank()).toList();
    }

    private boolean answers() throws IOException {
        return tool(List.of("version"), "").run().exit() == 0;
    }

    private LabCommand tool(List<String> arguments, String input) {
        List<String> argv = new ArrayList<>(List.of("virsh", "--quiet", "--connect", uri()));
        argv.addAll(arguments);
        return machine.command(argv).reading(input).within(LIMIT);
    }
}
