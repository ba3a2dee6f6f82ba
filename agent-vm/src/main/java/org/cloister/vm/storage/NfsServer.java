package org.cloister.vm.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.cloister.ipsec.Address;
import org.cloister.vm.machine.Daemon;
import org.cloister.vm.machine.Mount;
import org.cloister.vm.machine.Programs;

/**
 * The controlling VM's NFS server: NFSv4.2 on its own address alone, with rpc.mountd, whom the kernel asks about exports, and
 * nfsdcld, which remembers who has files open over a restart. Exports nothing by itself.
 */
public final class NfsServer {
    private static final Path CONTROL = Path.of("/proc/fs/nfsd");
    private static final Path PIPES = Path.of("/var/lib/nfs/rpc_pipefs");
    /** Seconds: how long a silent worker keeps its locks, and how long after a start only old ones are taken. */
    private static final int LEASE_S = 10;

    private static final int THREADS = 8;

    private final Programs programs;
    private final Address own;
    private final Path state;
    private final Daemon clients;
    private final Daemon mountd;

    /**
     * @param state where nfsdcld keeps its own: on the drive, or a restart forgets who had what open
     * @param logs a folder
     */
    public NfsServer(Programs programs, Address own, Path state, Path logs) {
        this.programs = programs;
        this.own = own;
        this.state = state;
        this.clients = new Daemon(
                programs,
                "nfsdcld",
                List.of("nfsdcld", "--foreground", "--storagedir", state.toString()),
                Map.of(),
                logs.resolve("nfsdcld.log"));
        this.mountd = new Daemon(
                programs,
                "rpc.mountd",
                List.of("rpc.mountd", "--foreground", "--no-nfs-version", "3"),
                Map.of(),
                logs.resolve("rpc.mountd.log"));
    }

    /** It serves when this returns. What runs already is left as it is. */
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
        for (String time : List.of("nfsv4leasetime", "nfsv4gracetime")) {
            programs.succeed(
                    LEASE_S + "\n", List.of("tee", CONTROL.resolve(time).toString()));
        }
        programs.succeed("rpc.nfsd", "-N", "3", "-V", "4.2", "-U", "-H", own.toString(), Integer.toString(THREADS));
        if (threads() != THREADS) {
            throw new IOException("nfsd: want " + THREADS + " threads, have " + threads() + "; read the kernel's log");
        }
    }

    /** Serves nobody any more; exports end with it. */
    public void stop() throws IOException {
        if (!Mount.at(programs, CONTROL).isEmpty()) {
            programs.run("", List.of("rpc.nfsd", "0"), Duration.ofSeconds(20));
            programs.succeed("exportfs", "-ua");
        }
        mountd.stop();
        clients.stop();
    }

    private int threads() throws IOException {
        String text =
                programs.succeed("cat", CONTROL.resolve("threads").toString()).strip();
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IOException("nfsd: want a number of threads, have " + text, e);
        }
    }

    private void mount(String type, Path at) throws IOException {
        if (Mount.at(programs, at).stream().noneMatch(mount -> mount.type().equals(type))) {
            programs.succeed("mount", "-t", type, type, at.toString());
        }
    }
}
