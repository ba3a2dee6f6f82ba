package org.cloister.vm.worker.storage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.TunnelAddress;
import org.cloister.vm.system.mount.MountHolder;
import org.cloister.vm.system.mount.MountedFileSystem;
import org.cloister.vm.system.mount.Unmounter;

/** A worker's mounts of the project's storage, through the tunnel to its controlling VM. */
public final class StorageMounts {
    private static final Duration ONCE = Duration.ofSeconds(20);
    private static final Duration PATIENCE = Duration.ofSeconds(3);
    private static final int OPEN = 0755;
    private static final long PAUSE_MS = 300;

    private final ProcessRunner programs;
    private final TunnelAddress server;
    private final List<StorageMount> mounts;

    /**
     * Plans the mounts.
     *
     * @param mounts mounted in this order, unmounted in reverse
     */
    public StorageMounts(ProcessRunner programs, TunnelAddress server, List<StorageMount> mounts) {
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
            while (!isThere(each)) {
                String complaint = tryOnce(each, Math.max(1, deadline - System.nanoTime()));
                if (!complaint.isEmpty() && System.nanoTime() > deadline) {
                    throw new IOException("storage " + each.source(server) + ": want it at " + each.mountPoint()
                            + " within " + limit.toSeconds() + " s, have: " + complaint);
                }
                if (!complaint.isEmpty()) {
                    pause();
                }
            }
        }
    }

    /** Unmounts all, whether the server responds or not; returns the processes that had files open. */
    public List<MountHolder> unmount() throws IOException {
        Unmounter unmounting = new Unmounter(programs, PATIENCE);
        List<MountHolder> holders = new ArrayList<>();
        for (int i = mounts.size() - 1; i >= 0; i--) {
            if (isThere(mounts.get(i))) {
                holders.addAll(unmounting.unmount(mounts.get(i).mountPoint()).holders());
            }
        }
        return holders;
    }

    /** Creates the folder and missing ones above it, accessible to all users whatever the process' umask is. */
    private static void makeFolder(Path folder) throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        Path above = folder.getParent();
        if (above != null) {
            makeFolder(above);
        }
        Files.createDirectory(folder);
        Files.setAttribute(folder, "unix:mode", OPEN, LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isThere(StorageMount wanted) throws IOException {
        List<MountedFileSystem> found = MountedFileSystem.at(programs, wanted.mountPoint());
        if (found.isEmpty()) {
            return false;
        }
        MountedFileSystem seen = found.get(found.size() - 1);
        if (!seen.type().equals("nfs4")
                || !seen.source().equals(wanted.source(server))
                || seen.options().contains("ro") != wanted.readOnly()) {
            throw new IOException("mount at " + wanted.mountPoint() + ": want " + wanted.source(server) + ", have "
                    + seen.source() + " (" + seen.type() + "); unmount it");
        }
        return true;
    }

    /**
     * Tries to mount once.
     *
     * @return the error; empty on success
     */
    private String tryOnce(StorageMount each, long leftNs) {
        Duration limit = leftNs < ONCE.toNanos() ? Duration.ofNanos(leftNs).plusMillis(1) : ONCE;
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
