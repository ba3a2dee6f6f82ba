package org.cloister.vm.worker.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.vm.system.mount.MountHolder;
import org.cloister.vm.system.mount.Unmounter;

/** A worker's mounts of the project's storage, through the tunnel to its controlling VM. */
public final class StorageMounts {
    private static final Duration ATTEMPT_LIMIT = Duration.ofSeconds(20);
    private static final Duration UNMOUNT_LIMIT = Duration.ofSeconds(3);
    private static final int OPEN = 0755;
    private static final long PAUSE_MS = 300;

    private final ProcessRunner programs;
    private final Ipv4Address server;
    private final List<StorageMount> mounts;

    /**
     * Plans the mounts.
     *
     * @param mounts mounted in this order, unmounted in reverse
     */
    public StorageMounts(ProcessRunner programs, Ipv4Address server, List<StorageMount> mounts) {
        this.programs = programs;
        this.server = server;
        this.mounts = List.copyOf(mounts);
    }

    /**
     * Mounts all that is not mounted yet, and retries until the server responds or the limit has passed.
     *
     * @throws IOException if one of them could not be mounted, or something else is mounted there
     */
    public void mount(Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        for (StorageMount each : mounts) {
            makeFolder(each.mountPoint());
            while (!isMounted(each)) {
                String error = tryOnce(each, Math.max(1, deadline - System.nanoTime()));
                if (!error.isEmpty() && System.nanoTime() > deadline) {
                    throw new IOException("storage " + each.source(server) + ": it is not mounted at "
                            + each.mountPoint() + " after " + limit.toSeconds() + " s: " + error);
                }
                if (!error.isEmpty()) {
                    pause();
                }
            }
        }
    }

    /** Unmounts all, whether the server responds or not; returns the processes that had files open. */
    public List<MountHolder> unmount() throws IOException {
        Unmounter unmounter = new Unmounter(programs, UNMOUNT_LIMIT);
        List<MountHolder> holders = new ArrayList<>();
        for (int i = mounts.size() - 1; i >= 0; i--) {
            if (isMounted(mounts.get(i))) {
                holders.addAll(unmounter.unmount(mounts.get(i).mountPoint()).holders());
            }
        }
        return holders;
    }

    /** Creates the folder and missing ones above it, accessible to all users whatever the process' umask is. */
    private static void makeFolder(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path parent = folder.getParent();
        if (parent != null) {
            makeFolder(parent);
        }
        Files.createDirectory(folder);
        Files.setAttribute(folder, "unix:mode", OPEN, LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isMounted(StorageMount mount) throws IOException {
        List<MountedFileSystem> found = MountedFileSystem.at(programs, mount.mountPoint());
        if (found.isEmpty()) {
            return false;
        }
        MountedFileSystem mounted = found.get(found.size() - 1);
        if (!mounted.type().equals("nfs4")
                || !mounted.source().equals(mount.source(server))
                || mounted.options().contains("ro") != mount.readOnly()) {
            throw new IOException("mount at " + mount.mountPoint() + ": want " + mount.source(server) + ", have "
                    + mounted.source() + " (" + mounted.type() + "); unmount it");
        }
        return true;
    }

    /**
     * Tries to mount once.
     *
     * @return the error; empty on success
     */
    private String tryOnce(StorageMount each, long leftNs) {
        Duration limit =
                leftNs < ATTEMPT_LIMIT.toNanos() ? Duration.ofNanos(leftNs).plusMillis(1) : ATTEMPT_LIMIT;
        try {
            ProcessRunner.Output output = programs.run("", each.command(server), limit);
            return output.exit() == 0 ? "" : output.errorSummary();
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("mounting: interrupted", e);
        }
    }
}
