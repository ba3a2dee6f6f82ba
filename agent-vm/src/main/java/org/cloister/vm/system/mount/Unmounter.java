package org.cloister.vm.system.mount;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;

/** Unmounts file systems. Ends no process: reports those that still use a file system, and detaches it lazily. */
public final class Unmounter {
    private static final Duration ATTEMPT_LIMIT = Duration.ofSeconds(10);
    /** Time limit for the response of a server that is alive, however busy. */
    private static final Duration RESPONSE_LIMIT = Duration.ofSeconds(3);

    private static final Duration ABANDON_LIMIT = Duration.ofSeconds(2);
    private static final long PAUSE_MS = 100;

    private final ProcessRunner programs;
    private final Duration busyLimit;

    /**
     * Creates an unmounter.
     *
     * @param busyLimit time to wait for a busy file system
     */
    public Unmounter(ProcessRunner programs, Duration busyLimit) {
        this.programs = programs;
        this.busyLimit = busyLimit;
    }

    /**
     * Result of an unmount.
     *
     * @param clean whether the file system is unmounted; otherwise it is detached, and unmounted when its holders end
     * @param holders processes that were found to have it open when the time was over
     */
    public record Outcome(boolean clean, List<MountHolder> holders) {
        public Outcome {
            holders = List.copyOf(holders);
        }
    }

    /**
     * Unmounts everything that is mounted there.
     *
     * @throws IOException if it is still mounted
     */
    public Outcome unmount(Path mountPoint) throws IOException {
        List<MountHolder> holders = new ArrayList<>();
        boolean clean = true;
        long deadline = System.nanoTime() + busyLimit.toNanos();
        while (!MountedFileSystem.at(programs, mountPoint).isEmpty()) {
            if (tryOnce(mountPoint)) {
                continue;
            }
            if (System.nanoTime() < deadline) {
                pause();
                continue;
            }
            holders.addAll(MountHolder.of(mountPoint));
            clean = false;
            programs.runChecked("umount", "--lazy", "--no-canonicalize", mountPoint.toString());
        }
        return new Outcome(clean, holders);
    }

    /** Returns whether the server of the file system mounted there still responds. */
    public boolean isResponsive(Path mountPoint) {
        try {
            return programs.run("", List.of("stat", "--file-system", mountPoint.toString()), RESPONSE_LIMIT)
                            .exit()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Detaches, without waiting, a file system whose server does not respond; data not yet written to it is lost.
     *
     * @throws IOException if it is still mounted
     */
    public void abandon(Path mountPoint) throws IOException {
        List<String> umount = List.of("umount", "--force", "--lazy", "--no-canonicalize", mountPoint.toString());
        String error;
        try {
            error = programs.run("", umount, ABANDON_LIMIT).errorSummary();
        } catch (IOException e) {
            // umount detaches it first, and then waits for unwritten data.
            error = String.valueOf(e.getMessage());
        }
        if (!MountedFileSystem.at(programs, mountPoint).isEmpty()) {
            throw new IOException(mountPoint + ": it cannot be detached: " + error);
        }
    }

    private boolean tryOnce(Path mountPoint) {
        try {
            return programs.run("", List.of("umount", mountPoint.toString()), ATTEMPT_LIMIT)
                            .exit()
                    == 0;
        } catch (IOException e) {
            // Its server does not respond; treated as busy.
            return false;
        }
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("unmounting: interrupted", e);
        }
    }
}
