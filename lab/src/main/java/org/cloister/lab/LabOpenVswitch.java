package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A machine's own Open vSwitch with the userspace datapath; its sockets are in one folder, which is also reachable from
 * outside.
 */
public final class LabOpenVswitch {
    public static final String BRIDGE = "br-secure";
    private static final String SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema";

    private final LabMachine machine;
    private final Path folder;

    private LabOpenVswitch(LabMachine machine, Path folder) {
        this.machine = machine;
        this.folder = folder;
    }

    static LabOpenVswitch of(LabMachine machine) throws IOException {
        machine.socket("ovs/" + BRIDGE + ".mgmt");
        return new LabOpenVswitch(machine, machine.folder("sock/ovs"));
    }

    void start() throws IOException {
        machine.command("ovsdb-tool", "create", database(), SCHEMA).succeed();
        startServer();
        vsctl("--no-wait", "init");
        startSwitch();
        // As ovs-ctl does it on a machine with systemd.
        String[] version =
                machine.command("ovs-vswitchd", "--version").succeed().split("\\s+", 5);
        vsctl("set", "Open_vSwitch", ".", "ovs-version=" + version[3]);
        vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev", "fail-mode=secure");
    }

    /** Starts ovsdb-server, also after {@link #kill}; the database is unchanged. */
    public void startServer() throws IOException {
        daemon("ovsdb-server", List.of(database(), "--remote=punix:" + socket()));
    }

    /** Starts ovs-vswitchd, also after {@link #kill}; it has no flows then. */
    public void startSwitch() throws IOException {
        daemon("ovs-vswitchd", List.of("unix:" + socket()));
    }

    /** Kills {@code ovsdb-server} or {@code ovs-vswitchd} as a crash does. */
    public void kill(String daemon) throws IOException {
        String pidfile = "/run/" + daemon + ".pid";
        String pid = machine.command("cat", pidfile).succeed().strip();
        machine.command("kill", "-9", pid).succeed();
        machine.await(
                "the end of " + daemon,
                machine.log(daemon),
                Duration.ofSeconds(5),
                () -> machine.command("kill", "-0", pid).run().exit() != 0);
    }

    /** Adds the interface that carries every VLAN to the other hosts. */
    void addTrunk(String device) throws IOException {
        vsctl("add-port", BRIDGE, device);
    }

    /** Replaces the bridge's flows by ordinary learning and forwarding within VLANs. */
    public void forwardWithinVlans() throws IOException {
        ofctl("del-flows", BRIDGE);
        ofctl("add-flow", BRIDGE, "priority=0,actions=NORMAL");
    }

    /** Changes the handling of a port's frames, with the arguments of {@code ovs-ofctl mod-port}. */
    public void port(String name, String... actions) throws IOException {
        for (String action : actions) {
            ofctl("mod-port", BRIDGE, name, action);
        }
    }

    /**
     * Returns the folder that {@code OVS_RUNDIR} names: database socket, control sockets, the bridge's OpenFlow socket.
     */
    public Path folder() {
        return folder;
    }

    public Path socket() {
        return folder.resolve("db.sock");
    }

    public String vsctl(String... arguments) throws IOException {
        return tool("ovs-vsctl", List.of("--timeout=10", "--db=unix:" + socket()), arguments);
    }

    public String ofctl(String... arguments) throws IOException {
        return tool("ovs-ofctl", List.of("--timeout=10"), arguments);
    }

    /** Returns the environment in which the ordinary tools find this instance. */
    Map<String, String> environment() {
        return Map.of("OVS_RUNDIR", folder.toString());
    }

    private String tool(String tool, List<String> first, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(tool));
        argv.addAll(first);
        argv.addAll(List.of(arguments));
        return machine.command(argv).with(environment()).succeed();
    }

    private void daemon(String name, List<String> arguments) throws IOException {
        Files.createDirectories(folder);
        List<String> argv = new ArrayList<>(List.of(name));
        argv.addAll(arguments);
        argv.addAll(List.of(
                "--unixctl=" + folder.resolve(name + ".ctl"),
                "--pidfile=/run/" + name + ".pid",
                "--log-file=" + machine.log(name),
                "--detach",
                "--no-chdir",
                "-vconsole:off"));
        machine.command(argv).with(environment()).succeed();
    }

    private String database() {
        return machine.folder().resolve("ovs.db").toString();
    }
}
