package org.cloister.vm.controller.drive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.DeviceErasure;
import org.cloister.luks.volume.KeySlotDerivation;
import org.cloister.luks.volume.LuksVolume;
import org.cloister.luks.volume.VolumeException;
import org.cloister.luks.volume.VolumeFormat;
import org.cloister.luks.volume.VolumeKey;

/**
 * Creates a drive's LUKS2 header, or verifies an existing one for an opening. The drive's key opens a key slot, so that
 * it can be replaced; the volume key, which encrypts the sectors, is random and known to no person. A drive whose
 * creation was interrupted has no epoch.
 */
final class DriveVolume {
    /** Bytes that contain every trace of a volume, a file system or a partition table. */
    private static final long HEAD_BYTES = 64L << 20;

    private static final long TAIL_BYTES = 4L << 20;
    private static final int PIECE_BYTES = 1 << 20;
    private static final String SUBSYSTEM = "cloister";

    private final SecretAllocator secrets;
    private final Cryptsetup cryptsetup;
    private final Path device;

    DriveVolume(SecretAllocator secrets, Cryptsetup cryptsetup, Path device) {
        this.secrets = secrets;
        this.cryptsetup = cryptsetup;
        this.device = device;
    }

    /**
     * Creates a volume that only this key opens, without an epoch yet.
     *
     * @throws DriveOpenRefused if the disk has anything but an unfinished drive
     */
    LuksVolume create(VolumeFormat format, SecretMemory driveKey) throws IOException {
        if (isUnfinished()) {
            cryptsetup.erase(device, DeviceErasure.Scope.HEADER);
        } else {
            requireEmpty();
        }
        LuksVolume volume;
        try (SecretMemory volumeKey = secrets.random(format.integrity().volumeKeyLength())) {
            volume = cryptsetup.create(device, format, volumeKey);
            boolean done = false;
            try {
                volume.addSlot(VolumeKey.ofVolume(volumeKey), driveKey, KeySlotDerivation.RANDOM_KEY);
                done = true;
            } finally {
                if (!done) {
                    volume.close();
                }
            }
        }
        return volume;
    }

    /**
     * Opens the existing drive, if its header has the form that {@link #create} makes, its epoch is older than the
     * opening's and the key opens it. The form is checked first: an unchecked header could request any cipher, and any
     * time and memory to try a key.
     *
     * @throws DriveOpenRefused otherwise; nothing was changed
     */
    LuksVolume openExisting(SecretMemory driveKey, long epoch) throws IOException {
        LuksVolume volume = open();
        boolean accepted = false;
        try {
            requireForm(volume);
            long present = volume.tokens().epoch().orElseThrow(this::unfinished);
            if (present >= epoch) {
                throw new DriveOpenRefused(
                        DriveOpenRefused.Reason.DRIVE_EPOCH,
                        "drive",
                        "an epoch below the opening's " + epoch,
                        Long.toString(present),
                        "open it with the next epoch; if nobody opened it since,"
                                + " this opening is not of the newest drive");
            }
            try {
                volume.check(VolumeKey.ofSlot(driveKey));
            } catch (VolumeException.WrongKey e) {
                throw new DriveOpenRefused(DriveOpenRefused.Reason.DRIVE_KEY, e);
            }
            accepted = true;
            return volume;
        } finally {
            if (!accepted) {
                volume.close();
            }
        }
    }

    /** Returns the epoch in the header now; empty if it has none. */
    OptionalLong epoch() throws IOException {
        try (LuksVolume volume = open()) {
            return volume.tokens().epoch();
        }
    }

    private static void requireForm(LuksVolume volume) throws IOException {
        try {
            volume.requireForm();
        } catch (VolumeException.UnexpectedHeader e) {
            throw new DriveOpenRefused(DriveOpenRefused.Reason.DRIVE_HEADER, e);
        }
    }

    private LuksVolume open() throws IOException {
        try {
            return cryptsetup.open(device);
        } catch (VolumeException.NotLuks e) {
            throw new DriveOpenRefused(DriveOpenRefused.Reason.NO_DRIVE, e);
        }
    }

    private DriveOpenRefused unfinished() {
        return new DriveOpenRefused(
                DriveOpenRefused.Reason.UNFINISHED,
                "drive",
                "one with an epoch",
                "one whose creation was interrupted",
                "open it as a new drive: it holds no data");
    }

    private boolean isUnfinished() throws IOException {
        try (LuksVolume volume = cryptsetup.open(device)) {
            return volume.subsystem().equals(SUBSYSTEM)
                    && volume.tokens().epoch().isEmpty();
        } catch (VolumeException.NotLuks | VolumeException.DamagedHeader | VolumeException.Luks1 e) {
            return false;
        }
    }

    private void requireEmpty() throws IOException {
        try (FileChannel channel = FileChannel.open(device, StandardOpenOption.READ)) {
            long size = channel.size();
            requireZeros(channel, 0, Math.min(size, HEAD_BYTES));
            long tail = Math.max(0, size - TAIL_BYTES);
            requireZeros(channel, tail, size);
        }
    }

    private static void requireZeros(FileChannel channel, long from, long to) throws IOException {
        ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
        for (long at = from; at < to; ) {
            piece.clear();
            int count = channel.read(piece, at);
            if (count <= 0) {
                return;
            }
            for (int i = 0; i < count; i++) {
                if (piece.get(i) != 0) {
                    throw new DriveOpenRefused(
                            DriveOpenRefused.Reason.NOT_EMPTY,
                            "new drive",
                            "an empty disk",
                            "data at byte " + (at + i),
                            "provide an empty disk, or open the existing drive");
                }
            }
            at += count;
        }
    }
}
