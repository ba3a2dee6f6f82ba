package org.cloister.vm.system.mount;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;

/** Takes mounts away. It ends no process: what still uses a file system is said, and keeps it out of sight. */
public final class Unmounter {
    private static final Duration ONCE = Duration.ofSeconds(10);
    /** For a server that is alive, however busy. */
    private static final Duration ANSWER = Duration.ofSeconds(3);

    private static final Duration ABANDON = Duration.ofSeconds(2);
    private static final long PAUSE_MS = 100;

    private final ProcessRunner programs;
    private final Duration patience;

    /** @param patience with what is busy */
    public Unmounter(ProcessRunner programs, Duration patience) {
        this.programs = programs;
        this.patience = patience;
    }

    /**
     * What became of it.
     *
     * @param clean whether it is gone; else it is out of sight, and goes when its holders do
     * @param holders who could be seen to have it open when patience ended
     */
    public record Outcome(boolean clean, List<MountHolder> holders) {
        public Outcome {
            holders = List.copyOf(holders);
        }
    }

    /**
     * Takes away whatever is mounted at that place.
     *
     * @throws IOException if it is still there
     */
    public Outcome unmount(Path place) throws IOException {
        List<MountHolder> holders = new ArrayList<>();
        boolean clean = true;
        long deadline = System.nanoTime() + patience.toNanos();
        while (!MountedFileSystem.at(programs, place).isEmpty()) {
            if (tryOnce(place)) {
                continue;
            }
            if (System.nanoTime() < deadline) {
                pause();
                continue;
            }
            holders.addAll(MountHolder.of(place));
            clean = false;
            programs.runChecked("umount", "--lazy", "--no-canonicalize", place.toString());
        }
        return new Outcome(clean, holders);
    }

    /** Whether who serves what is mounted there still does. */
    public boolean isResponsive(Path place) {
        try {
            return programs.run("", List.of("stat", "--file-system", place.toString()), ANSWER)
                            .exit()
                    == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Takes away, without waiting, what nobody serves any more: what was to be written to it is lost.
     *
     * @throws IOException if it is still there
     */
    public void abandon(Path place) throws IOException {
        List<String> umount = List.of("umount", "--force", "--lazy", "--no-canonicalize", place.toString());
        String complaint;
        try {
            complaint = programs.run("", umount, ABANDON).errorSummary();
        } catch (IOException e) {
            // It is out of sight first, and then waits for what was to be written.
            complaint = String.valueOf(e.getMessage());
        }
        if (!MountedFileSystem.at(programs, place).isEmpty()) {
            throw new IOException(place + ": want it abandoned, have it mounted: " + complaint);
        }
    }

    private boolean tryOnce(Path place) {
        try {
            return programs.run("", List.of("umount", place.toString()), ONCE).exit() == 0;
        } catch (IOException e) {
            // Its server does not answer: as good as busy.
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
