package org.cloister.ovs;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An Open vSwitch of the test's own: real daemons in a folder and in namespaces that end with the test's JVM. */
final class RealSwitch implements AutoCloseable {
    private static final String SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema";

    private final Path folder;
    private final Process holder;
    private final long first;
    private @Nullable Process server;
    private @Nullable Process vswitchd;

    private RealSwitch(Path folder, Process holder, long first) {
        this.folder = folder;
        this.holder = holder;
        this.first = first;
    }

    static RealSwitch start() throws IOException {
        RealSwitch made = withoutDaemons();
        made.startServer();
        made.vsctl("--no-wait", "init");
        made.startSwitch();
        return made;
    }

    static RealSwitch withoutDaemons() throws IOException {
        Path folder = Files.createTempDirectory("ovs");
        // The first process of the namespaces ends when this JVM's end of its input does, and everything with it.
        Process holder = new ProcessBuilder(
                        "unshare", "--net", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "cat")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        until("the namespaces", () -> holder.children().findAny().isPresent());
        long first = holder.children().findAny().orElseThrow().pid();
        RealSwitch made = new RealSwitch(folder, holder, first);
        until("the namespaces' processes", () -> made.isInside());
        made.run("ovsdb-tool", "create", folder.resolve("conf.db").toString(), SCHEMA);
        return made;
    }

    BridgeConfig config() {
        return config(null);
    }

    BridgeConfig config(@Nullable String uplink) {
        return BridgeConfig.of(folder, uplink)
                .withDatapath("netdev")
                .withNft(List.of("nsenter", "--target", Long.toString(first), "--net", "/usr/sbin/nft"));
    }

    Path folder() {
        return folder;
    }

    void startServer() throws IOException {
        server = daemon(
                "ovsdb-server", folder.resolve("conf.db").toString(), "--remote=punix:" + folder.resolve("db.sock"));
        until("ovsdb-server", () -> Files.exists(folder.resolve("db.sock")));
    }

    void startSwitch() throws IOException {
        vswitchd = daemon("ovs-vswitchd", "unix:" + folder.resolve("db.sock"));
        until("ovs-vswitchd", () -> Files.exists(folder.resolve("ovs-vswitchd.ctl")));
    }

    void killServer() {
        kill(server, "db.sock");
    }

    void killSwitch() {
        kill(vswitchd, "ovs-vswitchd.ctl");
    }

    /** A pair of devices, the first one for the bridge. */
    void veth(String device, String other) throws IOException {
        run("ip", "link", "add", device, "type", "veth", "peer", "name", other);
        run("ip", "link", "set", device, "up");
        run("ip", "link", "set", other, "up");
    }

    /** Devices for ports, many in one go. */
    void devices(String prefix, int count) throws IOException {
        StringBuilder batch = new StringBuilder();
        for (int i = 0; i < count; i++) {
            batch.append("link add " + prefix + i + " type veth peer name x" + prefix + i + "\n");
        }
        Path file = folder.resolve("batch");
        Files.writeString(file, batch);
        run("ip", "-batch", file.toString());
    }

    String vsctl(String... arguments) throws IOException {
        return tool("ovs-vsctl", "--timeout=10", "--db=unix:" + folder.resolve("db.sock"), arguments);
    }

    String ofctl(String... arguments) throws IOException {
        return tool("ovs-ofctl", "--timeout=10", "-OOpenFlow14", arguments);
    }

    String appctl(String... arguments) throws IOException {
        return tool("ovs-appctl", "--timeout=10", "--target=" + folder.resolve("ovs-vswitchd.ctl"), arguments);
    }

    /** Flows as text, without what changes by itself. */
    String flows() throws IOException {
        return ofctl("--no-stats", "--sort", "dump-flows", "br-secure");
    }

    String run(String... argv) throws IOException {
        Process process = inside(argv).redirectErrorStream(true).start();
        process.getOutputStream().close();
        try (InputStream out = process.getInputStream()) {
            String output = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(20, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException(String.join(" ", argv) + ": " + output);
            }
            return output;
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    static void until(String what, BooleanSupplier question) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!question.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within 10 s: " + what);
            }
            try {
                TimeUnit.MILLISECONDS.sleep(5);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        holder.destroyForcibly().onExit().join();
        // The namespace's first process ends last.
        ProcessHandle.of(first)
                .filter(ProcessHandle::destroyForcibly)
                .ifPresent(each -> each.onExit().join());
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    private boolean isInside() {
        try {
            return !Files.readSymbolicLink(Path.of("/proc", Long.toString(first), "ns", "pid"))
                            .equals(Files.readSymbolicLink(Path.of("/proc/self/ns/pid")))
                    && Files.readString(Path.of("/proc", Long.toString(first), "comm"))
                            .strip()
                            .equals("cat");
        } catch (IOException e) {
            return false;
        }
    }

    private String tool(String tool, String first, String second, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(tool, first, second));
        argv.addAll(List.of(arguments));
        return run(argv.toArray(String[]::new));
    }

    private Process daemon(String name, String... arguments) throws IOException {
        List<String> argv = new ArrayList<>(List.of(name));
        argv.addAll(List.of(arguments));
        argv.addAll(List.of(
                "--unixctl=" + folder.resolve(name + ".ctl"),
                "--pidfile=" + folder.resolve(name + ".pid"),
                "--log-file=" + folder.resolve(name + ".log"),
                "-vconsole:off"));
        return inside(argv.toArray(String[]::new))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".out").toFile())
                .start();
    }

    private void kill(@Nullable Process process, String socket) {
        if (process != null) {
            List<ProcessHandle> all = process.descendants().toList();
            all.forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            until("the end of " + socket, () -> all.stream().noneMatch(ProcessHandle::isAlive));
            try {
                Files.deleteIfExists(folder.resolve(socket));
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    private ProcessBuilder inside(String... argv) {
        List<String> entered = new ArrayList<>(
                List.of("nsenter", "--target", Long.toString(first), "--net", "--pid", "--mount", "--"));
        entered.addAll(List.of(argv));
        ProcessBuilder builder = new ProcessBuilder(entered);
        for (String variable : List.of("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")) {
            builder.environment().put(variable, folder.toString());
        }
        return builder;
    }
}
