package org.cloister.luks.volume;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.volume.VolumeException.Fault;

/**
 * Erases one device. Its order lets a later erasure find as much after a kill at any point: it destroys the slots
 * first, then overwrites what follows the primary header, and overwrites the primary header, which states the total
 * length, last.
 */
public final class DeviceErasure {
    /** Used for traces of an unreadable header: the largest layout that LUKS2 allows. */
    private static final LuksVolume.Layout LONGEST = new LuksVolume.Layout(4L << 20, 128L << 20);

    private final Cryptsetup cryptsetup;
    private final Path device;

    DeviceErasure(Cryptsetup cryptsetup, Path device) {
        this.cryptsetup = cryptsetup;
        this.device = device;
    }

    /** Extent of the overwriting. */
    public enum Scope {
        /** Headers and key slots: without a copy of them or of the volume key the data is noise. */
        HEADER,
        /** The data as well, once with random bytes: for devices of which copies of header or key may exist. */
        WHOLE
    }

    void run(Scope scope) throws VolumeException {
        LuksHeaderProbe traces = traces();
        LuksVolume.Layout layout = destroySlots(traces);
        long header = Math.min(layout.length(), traces.length());
        long primary = Math.min(layout.metadata(), header);
        // Noise before zeros: some storage only notes that there are zeros, and keeps the old blocks.
        BlockOverwrite.overwrite(BlockOverwrite.NOISE, device, primary, header);
        BlockOverwrite.overwrite(BlockOverwrite.ZEROS, device, primary, header);
        if (scope == Scope.WHOLE) {
            BlockOverwrite.overwrite(BlockOverwrite.NOISE, device, header, traces.length());
        }
        BlockOverwrite.overwrite(BlockOverwrite.NOISE, device, 0, primary);
        BlockOverwrite.overwrite(BlockOverwrite.ZEROS, device, 0, primary);
        verify(header);
    }

    private LuksHeaderProbe traces() throws VolumeException {
        try {
            return LuksHeaderProbe.read(device);
        } catch (IOException e) {
            VolumeException failure = new VolumeException.NoDevice(Fault.own("open", device));
            failure.initCause(e);
            throw failure;
        }
    }

    private LuksVolume.Layout destroySlots(LuksHeaderProbe traces) throws VolumeException {
        try (LuksVolume volume = cryptsetup.open(device)) {
            cryptsetup.close(VolumeCreation.initialising(volume.uuid()));
            requireUnused();
            LuksVolume.Layout layout = volume.layout();
            for (int slot : volume.slots()) {
                try {
                    volume.removeSlot(slot);
                } catch (VolumeException e) {
                    // For example, a volume in the middle of a re-encryption. Slots that are not destroyed are
                    // overwritten.
                }
            }
            return layout;
        } catch (VolumeException.NotLuks | VolumeException.DamagedHeader | VolumeException.Truncated e) {
            requireUnused();
            return traces.luks2() ? LONGEST : VolumeCreation.LAYOUT;
        }
    }

    /**
     * Fails if the device is in use. O_EXCL on a block device fails while it is mapped or mounted; on a file it has no
     * effect.
     */
    private void requireUnused() throws VolumeException {
        CryptsetupLibrary library = cryptsetup.library();
        VolumeLibC system = library.system();
        int fd = system.open(device.toString(), VolumeLibC.O_RDWR | VolumeLibC.O_EXCL | VolumeLibC.O_CLOEXEC);
        if (fd < 0) {
            Fault fault = library.fault("open", device, library.lastErrno(), "");
            throw fault.errnoName().equals("EBUSY")
                    ? new VolumeException.DeviceBusy(fault)
                    : new VolumeException.NoDevice(fault);
        }
        system.close(fd);
    }

    private void verify(long header) throws VolumeException {
        long at = BlockOverwrite.firstNonZero(device, header);
        if (at < header) {
            throw new VolumeException.NotErased(Fault.own("erase", device), "another byte at " + at);
        }
        try (LuksVolume left = cryptsetup.open(device)) {
            throw new VolumeException.NotErased(Fault.own("erase", device), "a header with UUID " + left.uuid());
        } catch (VolumeException.NotLuks e) {
            // The erasure succeeded.
        }
    }
}
