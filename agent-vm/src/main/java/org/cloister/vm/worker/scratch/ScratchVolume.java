package org.cloister.vm.worker.scratch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.VolumeException;
import org.cloister.luks.volume.VolumeIntegrity;
import org.cloister.luks.volume.VolumeKey;
import org.cloister.vm.system.mount.Ext4Mount;
import org.cloister.vm.system.mount.MountHolder;
import org.cloister.vm.system.mount.Unmounter;

/**
 * A worker's scratch disk: a LUKS2 volume without key slots under a random key that only the kernel has once it is
 * mapped. A volume that a killed agent left is erased, never used again.
 */
public final class ScratchVolume {
    /** Sticky, and accessible to all users. */
    private static final int SHARED = 01777;

    /**
     * Sizes as {@link ScratchSize} computes them, whatever mke2fs.conf says; no journal, since it is never mounted a
     * second time.
     */
    public static final List<String> FILE_SYSTEM = List.of(
            "mkfs.ext4",
            "-q",
            "-m",
            "0",
            "-b",
            "4096",
            "-I",
            "256",
            "-i",
            "16384",
            "-O",
            "^has_journal,^resize_inode",
            "-E",
            "lazy_itable_init=1,nodiscard");

    private static final Duration UNMOUNT_LIMIT = Duration.ofSeconds(3);
    private static final Duration FORMAT_LIMIT = Duration.ofMinutes(2);

    private final ProcessRunner programs;
    private final SecretAllocator secrets;
    private final Cryptsetup cryptsetup;
    private final InstantSource clock;
    private final ScratchPlan plan;
    private final Unmounter unmounter;

    public ScratchVolume(
            ProcessRunner programs,
            SecretAllocator secrets,
            Cryptsetup cryptsetup,
            InstantSource clock,
            ScratchPlan plan) {
        this.programs = programs;
        this.secrets = secrets;
        this.cryptsetup = cryptsetup;
        this.clock = clock;
        this.plan = plan;
        this.unmounter = new Unmounter(programs, UNMOUNT_LIMIT);
    }

    public ScratchPlan plan() {
        return plan;
    }

    /**
     * Creates the volume, its file system and its folders.
     *
     * @throws IOException if the machine could swap a job's memory out in clear, or a step fails; what was created is
     *     removed
     */
    public void open() throws IOException {
        UnencryptedSwap.requireNone(programs, List.of(plan.mapping().path(), plan.mountPoint()));
        if (exists()) {
            requireErased(erase());
        }
        boolean done = false;
        try {
            createMapping();
            createFileSystem();
            createFolders();
            done = true;
        } finally {
            if (!done) {
                erase();
            }
        }
    }

    /**
     * Unmounts the volume and destroys its key, which leaves only noise on the disk; then overwrites the header. Ends
     * no process: returns those that still have a file open, in which case the volume cannot be erased. May be called
     * again.
     */
    public Erasure erase() {
        List<MountHolder> holders = new ArrayList<>();
        try {
            List<Path> mountPoints = new ArrayList<>(plan.temporary());
            mountPoints.add(plan.mountPoint());
            for (Path mountPoint : mountPoints) {
                if (isOurs(mountPoint)) {
                    holders.addAll(unmounter.unmount(mountPoint).holders());
                }
            }
            boolean mapped = cryptsetup.close(plan.mapping());
            if (!mapped && !hasHeader()) {
                return new Erasure(Optional.empty(), holders, "");
            }
            cryptsetup.erase(plan.device(), org.cloister.luks.volume.DeviceErasure.Scope.HEADER);
            return new Erasure(Optional.of(clock.instant()), holders, "");
        } catch (IOException e) {
            return new Erasure(Optional.empty(), holders, String.valueOf(e.getMessage()));
        }
    }

    private boolean exists() throws IOException {
        return cryptsetup.status(plan.mapping()).isPresent() || hasHeader();
    }

    private boolean hasHeader() throws VolumeException {
        try {
            cryptsetup.open(plan.device()).close();
            return true;
        } catch (VolumeException.NotLuks e) {
            return false;
        } catch (VolumeException.DamagedHeader | VolumeException.Truncated | VolumeException.Luks1 e) {
            return true;
        }
    }

    private static void requireErased(Erasure erasure) throws IOException {
        if (erasure.erased().isEmpty()) {
            throw new IOException("scratch volume of an earlier agent process: it cannot be erased: " + erasure.error()
                    + " " + erasure.holders());
        }
    }

    /** Wipes the key here as soon as the kernel has it; closing the mapping destroys the only copy left. */
    private void createMapping() throws IOException {
        try (SecretMemory key = secrets.random(VolumeIntegrity.NONE.volumeKeyLength());
                LuksVolume volume = cryptsetup.create(plan.device(), plan.label(), key)) {
            volume.map(plan.mapping(), VolumeKey.ofVolume(key), Set.of());
        }
    }

    private void createFileSystem() throws IOException {
        String device = plan.mapping().path().toString();
        List<String> make = new ArrayList<>(FILE_SYSTEM);
        make.add(device);
        ProcessRunner.Output output = programs.run("", make, FORMAT_LIMIT);
        if (output.exit() != 0) {
            throw new IOException("mkfs.ext4 " + device + ": " + output.errorSummary());
        }
        Ext4Mount.mount(programs, plan.mapping().path(), plan.mountPoint());
        makeShared(plan.mountPoint());
    }

    private void createFolders() throws IOException {
        for (Path mountPoint : plan.temporary()) {
            Path source = plan.mountPoint()
                    .resolve("." + mountPoint.toString().substring(1).replace('/', '-'));
            Files.createDirectory(source);
            makeShared(source);
            programs.runChecked("mount", "--bind", source.toString(), mountPoint.toString());
        }
    }

    private static void makeShared(Path folder) throws IOException {
        Files.setAttribute(folder, "unix:mode", SHARED, LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isOurs(Path mountPoint) throws IOException {
        return MountedFileSystem.at(programs, mountPoint).stream()
                .anyMatch(mount -> mount.source().equals(plan.mapping().path().toString()));
    }

    /**
     * Result of erasing a worker's scratch volume; a worker's part of the receipt contains {@code erased}
     * (docs/protocol.md, section 15).
     *
     * @param erased when the volume's key was destroyed and its header overwritten; empty if there was no volume, or
     *     erasure failed
     * @param holders processes that still had a file of it open
     * @param error why erasure failed; empty if it succeeded
     */
    public record Erasure(Optional<Instant> erased, List<MountHolder> holders, String error) {
        public Erasure {
            holders = List.copyOf(holders);
        }
    }
}
