package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.cloister.lab.Poll;

/** The package's agent-host-root, started for each connection as systemd does it, as root without any capability. */
final class RootSocket implements AutoCloseable {
    private static final Path SCRIPT =
            Path.of(System.getProperty("cloister.root"), "packaging/src/agent-host/agent-host-root");
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Process listener;
    private final Path path;
    private final Path pids;

    private RootSocket(Process listener, Path path, Path pids) {
        this.listener = listener;
        this.path = path;
        this.pids = pids;
    }

    /** Outside of the machine, where processes are named as the tests name them; Slurm is out of its reach there. */
    static RootSocket forSteps(CgroupSlurm slurm) throws IOException {
        return listen(slurm, argv -> argv);
    }

    /** In the machine, as on a real host. */
    static RootSocket forSlurm(CgroupSlurm slurm) throws IOException {
        return listen(slurm, argv -> slurm.machine().command(argv).argv());
    }

    /** Anybody may connect: whom systemd keeps out by the socket's mode is not what is looked at. */
    private static RootSocket listen(CgroupSlurm slurm, UnaryOperator<List<String>> where) throws IOException {
        Path folder = slurm.machine().folder("root");
        Path pids = Files.createDirectories(folder.resolve("pids"));
        Path configuration = Files.writeString(
                folder.resolve("conf"),
                "# of the lab\n\nnode %s\naccount root\npids %s\n".formatted(slurm.node(), pids));
        Path path = slurm.machine().socket("root");
        Process listener = new ProcessBuilder(where.apply(List.of(
                        "setpriv",
                        "--bounding-set=-all",
                        "--inh-caps=-all",
                        "systemd-socket-activate",
                        "--accept",
                        "--inetd",
                        "--listen=" + path,
                        SCRIPT.toString(),
                        configuration.toString())))
                .redirectErrorStream(true)
                .redirectOutput(slurm.machine().log("agent-host-root").toFile())
                .start();
        Poll.until("a socket", LIMIT, "read " + slurm.machine().log("agent-host-root"), () -> Files.exists(path));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
        return new RootSocket(listener, path, pids);
    }

    Path path() {
        return path;
    }

    /** As libvirt writes a domain's process down. */
    void write(String domain, long pid) throws IOException {
        Files.writeString(pids.resolve(domain + ".pid"), Long.toString(pid));
    }

    @Override
    public void close() throws IOException {
        listener.descendants().forEach(ProcessHandle::destroyForcibly);
        listener.destroyForcibly();
        try {
            listener.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(path);
    }
}
