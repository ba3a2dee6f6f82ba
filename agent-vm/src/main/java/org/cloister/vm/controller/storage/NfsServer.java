package org.cloister.vm.controller.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.vm.system.daemon.SupervisedDaemon;

/**
 * The controlling VM's NFS server: NFSv4.2 on its own address only, with rpc.mountd, which the kernel asks about
 * exports, and nfsdcld, which remembers across a restart which clients have files open. It exports nothing by itself.
 * Only the kernel listens, on port 2049.
 */
public final class NfsServer {
    /** Port at which workers reach the server. */
    public static final int PORT = 2049;

    private static final Path CONTROL = Path.of("/proc/fs/nfsd");
    private static final Path PIPES = Path.of("/var/lib/nfs/rpc_pipefs");
    /** Seconds for which a silent worker keeps its locks. */
    private static final int LEASE_S = 10;
    /**
     * Seconds after a start for which only earlier locks are accepted, unless all their owners have reclaimed them
     * before. A worker finds a reopened controlling VM within half a minute of its start, and is readmitted before its
     * mounts continue.
     */
    private static final int GRACE_S = 90;

    private static final int THREADS = 8;
    /** Version 3 needs lockd and a portmapper, and before 4.1 a server connects to its clients. */
    private static final List<String> OTHER_VERSIONS = List.of("3", "4.0", "4.1");
    /** Log folder for daemons that are only to be stopped. */
    private static final Path LOGS = Path.of("/run");

    private final ProcessRunner programs;
    private final Ipv4Address own;
    private final Path state;
    private final SupervisedDaemon clients;
    private final SupervisedDaemon mountd;

    /**
     * @param state folder of nfsdcld's state: on the drive, since otherwise a restart forgets which clients had files
     *     open
     * @param logs folder of log files
     */
    public NfsServer(ProcessRunner programs, Ipv4Address own, Path state, Path logs) {
        this.programs = programs;
        this.own = own;
        this.state = state;
        this.clients = clients(programs, state, logs);
        this.mountd = mountd(programs, logs);
    }

    /** Starts the server, which serves on return. Daemons that already run are left as they are. */
    public void start() throws IOException {
        mount("nfsd", CONTROL);
        Files.createDirectories(PIPES);
        mount("rpc_pipefs", PIPES);
        Files.createDirectories(state);
        clients.start();
        mountd.start();
        if (threads() > 0) {
            return;
        }
        set("nfsv4leasetime", LEASE_S);
        set("nfsv4gracetime", GRACE_S);
        List<String> command = new ArrayList<>(List.of("rpc.nfsd", "-V", "4.2", "-U", "-H", own.toString()));
        OTHER_VERSIONS.forEach(version -> command.addAll(List.of("-N", version)));
        command.add(Integer.toString(THREADS));
        programs.runChecked("", command);
        if (threads() != THREADS) {
            throw new IOException("nfsd: want " + THREADS + " threads, have " + threads() + "; read the kernel's log");
        }
    }

    /** Stops the server; its exports end with it. */
    public void stop() throws IOException {
        stopKernel(programs);
        mountd.stop();
        clients.stop();
    }

    /** Stops the server without other knowledge of it than the machine's state. */
    public static void stop(ProcessRunner programs) throws IOException {
        stopKernel(programs);
        mountd(programs, LOGS).stop();
        clients(programs, LOGS, LOGS).stop();
    }

    private void set(String time, int seconds) throws IOException {
        programs.runChecked(seconds + "\n", List.of("tee", CONTROL.resolve(time).toString()));
    }

    private static void stopKernel(ProcessRunner programs) throws IOException {
        if (!MountedFileSystem.at(programs, CONTROL).isEmpty()) {
            programs.run("", List.of("rpc.nfsd", "0"), Duration.ofSeconds(20));
            programs.runChecked("exportfs", "-ua");
        }
    }

    private static SupervisedDaemon clients(ProcessRunner programs, Path state, Path logs) {
        return new SupervisedDaemon(
                programs,
                "nfsdcld",
                List.of("nfsdcld", "--foreground", "--storagedir", state.toString()),
                Map.of(),
                logs.resolve("nfsdcld.log"));
    }

    private static SupervisedDaemon mountd(ProcessRunner programs, Path logs) {
        return new SupervisedDaemon(
                programs,
                "rpc.mountd",
                // rpc.mountd answers the kernel in either case; for the older protocols it would listen on all
                // addresses.
                List.of("rpc.mountd", "--foreground", "--no-nfs-version", "2", "--no-nfs-version", "3"),
                Map.of(),
                logs.resolve("rpc.mountd.log"));
    }

    private int threads() throws IOException {
        String text = programs.read(CONTROL.resolve("threads")).strip();
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IOException("nfsd: want a number of threads, have " + text, e);
        }
    }

    private void mount(String type, Path at) throws IOException {
        if (MountedFileSystem.at(programs, at).stream()
                .noneMatch(mount -> mount.type().equals(type))) {
            programs.runChecked("mount", "-t", type, type, at.toString());
        }
    }
}
