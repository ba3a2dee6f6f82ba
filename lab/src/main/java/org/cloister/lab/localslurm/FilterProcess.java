package org.cloister.lab.localslurm;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.base.process.ProcessRunner;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabMachine;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.rpcfilter.RpcFilterMain;
import org.cloister.vm.rpcfilter.SlurmRelease;
import org.cloister.vm.system.network.SlurmctldRedirectTable;

/**
 * Runs the filter before the Local Slurm's slurmctld, with the redirection and the rights that a controlling VM gives
 * it. After a kill it is started again, as by its unit, until it is stopped. It ends with the head node.
 */
public final class FilterProcess {
    private static final String PID = "/run/slurm-filter";
    private static final int UID = 64_990;
    private static final int PREFIX = 16;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final ClusterSite site;

    FilterProcess(ClusterSite site) {
        this.site = site;
    }

    /** Closes slurmctld's port to nodes, except for what the filter passes on. */
    void closePort() throws IOException {
        List<String> enter = List.of(
                "nsenter",
                "--target",
                Long.toString(site.head().sandbox().pid()),
                "--mount",
                "--uts",
                "--net",
                "--pid",
                "--ipc",
                "--");
        new SlurmctldRedirectTable(
                        new Ipv4Address(ClusterSite.HEAD_ADDRESS),
                        Ipv4Network.of(new Ipv4Address(ClusterSite.HEAD_ADDRESS), PREFIX),
                        UID)
                .install(ProcessRunner.withPrefix(enter));
        Path state = site.run().resolve(FilterStateFile.NAME);
        Files.createDirectories(site.run().resolve(FilterStateFile.FOLDER));
        Files.write(state, new byte[0]);
        LabCommand.of("chgrp", Integer.toString(UID), state.toString()).succeed();
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rw-rw----"));
    }

    /** Starts the filter; it listens when this returns. */
    public void start() throws IOException {
        LabMachine head = site.head();
        Path script = head.folder().resolve("filter.sh");
        try (InputStream in = FilterProcess.class.getResourceAsStream("filter.sh")) {
            Files.write(script, in.readAllBytes());
        }
        String release = SlurmRelease.ofVersionOutput(
                        head.command("slurmctld", "-V").succeed())
                .orElseThrow(() -> new LabException("filter: no release that it knows", "run slurmctld -V"))
                .toString();
        String shell = "exec setsid --fork sh \"$0\" \"$@\" >>" + log() + " 2>&1 </dev/null";
        head.command(
                        "sh",
                        "-c",
                        shell,
                        script.toString(),
                        PID,
                        "setpriv",
                        "--reuid=" + UID,
                        "--regid=" + UID,
                        "--clear-groups",
                        "--no-new-privs",
                        "--bounding-set=-all",
                        "--inh-caps=-all",
                        head.sandbox().java().toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx32m",
                        "-Xss256k",
                        "-XX:-UsePerfData",
                        "-Djava.net.preferIPv4Stack=true",
                        "-cp",
                        classes().toString(),
                        RpcFilterMain.class.getName(),
                        ClusterSite.HEAD_ADDRESS + "/" + PREFIX,
                        release,
                        ClusterSite.RUN + "/" + FilterStateFile.NAME)
                .succeed();
        awaitRunning(true);
    }

    /** Kills the filter with kill -9; another one is started at once. */
    public void kill() throws IOException {
        site.head().signal("slurm-filter", "KILL");
    }

    /** Stops the filter; it is not started again. */
    public void stop() throws IOException {
        site.head().signal("slurm-filter-keeper", "KILL");
        kill();
        awaitRunning(false);
    }

    /** Returns what it has refused, and whether it runs. */
    public FilterStateFile state() {
        return new FilterStateFile(site.run().resolve(FilterStateFile.NAME));
    }

    public Path log() throws IOException {
        return site.head().log("slurm-filter");
    }

    public void awaitRunning(boolean running) throws IOException {
        site.head().await("the filter, running=" + running, log(), LIMIT, () -> state().isRunning() == running);
    }

    /** Copies its classes alone to a folder that its user can read: it needs no others. */
    private Path classes() throws IOException {
        Path copy = site.folder().resolve("filter");
        try {
            Path built = Path.of(RpcFilterMain.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            if (!Files.isDirectory(built)) {
                Path jar = Files.createDirectories(copy).resolve("agent-vm.jar");
                LabCommand.of("install", "-m", "0644", built.toString(), jar.toString())
                        .succeed();
                return jar;
            }
            String folder = RpcFilterMain.class.getPackageName().replace('.', '/');
            Path target = Files.createDirectories(copy.resolve(folder));
            LabCommand.of("cp", "-r", built.resolve(folder) + "/.", target.toString())
                    .succeed();
            LabCommand.of("chmod", "-R", "a+rX", copy.toString()).succeed();
            return copy;
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }
}
