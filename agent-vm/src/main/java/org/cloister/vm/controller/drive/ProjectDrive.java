package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.VolumeKey;
import org.cloister.vm.system.mount.Ext4Mount;
import org.cloister.vm.system.mount.MountHolder;
import org.cloister.vm.system.mount.Unmounter;

/**
 * The project's drive: a LUKS2 volume with an ext4 file system. Its epoch is written before anything on it is changed,
 * so that two VMs that were given the same drive both know the later one's epoch.
 */
public final class ProjectDrive {
    private static final Duration FORMAT_LIMIT = Duration.ofMinutes(5);
    private static final Duration CHECK_LIMIT = Duration.ofMinutes(15);
    private static final Duration UNMOUNT_LIMIT = Duration.ofSeconds(5);
    /** Runs e2fsck, and nothing else: no login, daemon or member of a project has this UID. */
    private static final int CHECKER = 65_532;

    /** Exit code of e2fsck after a repair. */
    private static final int REPAIRED = 1;

    private final ProcessRunner programs;
    private final Cryptsetup cryptsetup;
    private final DrivePlan plan;
    private final DriveVolume volume;

    public ProjectDrive(ProcessRunner programs, SecretAllocator secrets, Cryptsetup cryptsetup, DrivePlan plan) {
        this.programs = programs;
        this.cryptsetup = cryptsetup;
        this.plan = plan;
        this.volume = new DriveVolume(secrets, cryptsetup, plan.device());
    }

    /**
     * Result of opening the drive.
     *
     * @param previousEpoch epoch that the drive had; 0 if it was created
     */
    public record OpenResult(long previousEpoch, boolean created) {}

    /**
     * Opens and mounts the drive; the caller closes the key.
     *
     * @param epoch the opening's, which the drive has from now on
     * @param create whether to create the drive on a disk that is empty
     * @throws DriveOpenRefused if the drive is not as required; an existing one is unchanged unless a step failed
     */
    public OpenResult open(SecretMemory key, long epoch, boolean create) throws IOException {
        if (isMapped()) {
            throw new DriveOpenRefused(
                    DriveOpenRefused.Reason.DRIVE,
                    "drive",
                    "no mapping",
                    plan.mapping().path() + " of an earlier agent process",
                    "shut this VM down");
        }
        boolean done = false;
        try {
            OpenResult result = create ? create(key, epoch) : openExisting(key, epoch);
            Ext4Mount.mount(programs, plan.mapping().path(), plan.mountPoint());
            done = true;
            return result;
        } catch (DriveOpenRefused e) {
            throw e;
        } catch (IOException e) {
            throw new DriveOpenRefused(DriveOpenRefused.Reason.DRIVE, e);
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** Returns whether an earlier agent process left the drive mapped. */
    public boolean isMapped() throws IOException {
        return cryptsetup.status(plan.mapping()).isPresent();
    }

    /**
     * Reads the header again: another VM may have been given the drive.
     *
     * @return its epoch; empty if it no longer has one
     */
    public OptionalLong epoch() throws IOException {
        return volume.epoch();
    }

    /**
     * Unmounts and unmaps the drive. May be called again.
     *
     * @return the processes that still had files of it open, which they can no longer reach
     */
    public List<MountHolder> close() throws IOException {
        List<MountHolder> holders = List.of();
        if (isOurs()) {
            holders = new Unmounter(programs, UNMOUNT_LIMIT)
                    .unmount(plan.mountPoint())
                    .holders();
        }
        cryptsetup.close(plan.mapping());
        return holders;
    }

    private OpenResult create(SecretMemory key, long epoch) throws IOException {
        try (LuksVolume created = volume.create(plan.label(), key)) {
            created.map(plan.mapping(), VolumeKey.ofSlot(key), Set.of());
            run(
                    FORMAT_LIMIT,
                    0,
                    "mkfs.ext4",
                    "-q",
                    "-O",
                    "none," + String.join(",", Ext4Superblock.FEATURES),
                    "-E",
                    "lazy_itable_init=1,lazy_journal_init=1,nodiscard",
                    plan.mapping().path().toString());
            // Written last: a drive without an epoch is unfinished.
            created.tokens().raiseEpoch(epoch);
        }
        return new OpenResult(0, true);
    }

    private OpenResult openExisting(SecretMemory key, long epoch) throws IOException {
        try (LuksVolume opened = volume.openExisting(key, epoch)) {
            long previous = opened.tokens().epoch().orElseThrow();
            opened.tokens().raiseEpoch(epoch);
            opened.map(plan.mapping(), VolumeKey.ofSlot(key), Set.of());
            check();
            return new OpenResult(previous, false);
        }
    }

    /**
     * Repairs the file system as a user that can access only this device and has no capabilities: e2fsck is a large
     * program that reads data which a holder of the key could have written. The superblock is then compared with what
     * is created, before the kernel mounts it.
     */
    private void check() throws IOException {
        Path device = plan.mapping().path();
        Files.setAttribute(device, "unix:uid", CHECKER);
        try {
            run(
                    CHECK_LIMIT,
                    REPAIRED,
                    "setpriv",
                    "--reuid=" + CHECKER,
                    "--regid=" + CHECKER,
                    "--clear-groups",
                    "--inh-caps=-all",
                    "--no-new-privs",
                    "e2fsck",
                    "-p",
                    device.toString());
        } finally {
            Files.setAttribute(device, "unix:uid", 0);
        }
        ByteBuffer head = ByteBuffer.allocate(Ext4Superblock.LENGTH);
        try (FileChannel channel = FileChannel.open(device, StandardOpenOption.READ)) {
            while (head.hasRemaining() && channel.read(head, Ext4Superblock.AT + head.position()) > 0) {
                // reads until the buffer is full or the device ends
            }
        }
        Optional<String> difference = Ext4Superblock.difference(head.array());
        if (difference.isPresent()) {
            throw new IOException(device + ": " + difference.get()
                    + "; it was changed with the drive's key: see which host opened it last");
        }
    }

    private void run(Duration limit, int maxExit, String... command) throws IOException {
        ProcessRunner.Output output = programs.run("", List.of(command), limit);
        if (output.exit() < 0 || output.exit() > maxExit) {
            throw new IOException(String.join(" ", command) + ": " + output.errorSummary());
        }
    }

    private boolean isOurs() throws IOException {
        Path device = plan.mapping().path();
        return MountedFileSystem.at(programs, plan.mountPoint()).stream()
                .anyMatch(mount -> mount.source().equals(device.toString()));
    }
}
