package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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
    private static final Duration UNMOUNT_LIMIT = Duration.ofSeconds(5);

    private final ProcessRunner programs;
    private final Cryptsetup cryptsetup;
    private final DrivePlan plan;
    private final DriveVolume volume;
    private final DriveFileSystem fileSystem;

    public ProjectDrive(ProcessRunner programs, SecretAllocator secrets, Cryptsetup cryptsetup, DrivePlan plan) {
        this.programs = programs;
        this.cryptsetup = cryptsetup;
        this.plan = plan;
        this.volume = new DriveVolume(secrets, cryptsetup, plan.device());
        this.fileSystem = new DriveFileSystem(programs, plan.mapping().path());
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
            fileSystem.create();
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
            fileSystem.repair();
            return new OpenResult(previous, false);
        }
    }

    private boolean isOurs() throws IOException {
        Path device = plan.mapping().path();
        return MountedFileSystem.at(programs, plan.mountPoint()).stream()
                .anyMatch(mount -> mount.source().equals(device.toString()));
    }
}
