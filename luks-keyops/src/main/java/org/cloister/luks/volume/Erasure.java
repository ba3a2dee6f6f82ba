package org.cloister.luks.volume;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.volume.VolumeException.Fault;

/**
 * Erases one device. The order lets a kill at any point be followed by another erasure that finds as much: slots first, then
 * what lies behind the primary header, and the primary header, which says how long all of it is, last.
 */
public final class Erasure {
    /** Where there are traces of a header that cannot be read: the most that LUKS2 allows. */
    private static final Volume.Layout LONGEST = new Volume.Layout(4L << 20, 128L << 20);

    private final Cryptsetup cryptsetup;
    private final Path device;

    Erasure(Cryptsetup cryptsetup, Path device) {
        this.cryptsetup = cryptsetup;
        this.device = device;
    }

    /** How much to overwrite. */
    public enum Scope {
        /** Headers and key slots: without a copy of them or of the volume key the data is noise. */
        HEADER,
        /** The data as well, once with random bytes: for devices of which copies of header or key may exist. */
        WHOLE
    }

    void run(Scope scope) throws VolumeException {
        HeaderTraces traces = traces();
        Volume.Layout layout = destroySlots(traces);
        long header = Math.min(layout.length(), traces.length());
        long primary = Math.min(layout.metadata(), header);
        // Noise before zeros: some storage keeps a note that there are zeros, and with it the old blocks.
        Overwriting.with(Overwriting.NOISE, device, primary, header);
        Overwriting.with(Overwriting.ZEROS, device, primary, header);
        if (scope == Scope.WHOLE) {
            Overwriting.with(Overwriting.NOISE, device, header, traces.length());
        }
        Overwriting.with(Overwriting.NOISE, device, 0, primary);
        Overwriting.with(Overwriting.ZEROS, device, 0, primary);
        verify(header);
    }

    private HeaderTraces traces() throws VolumeException {
        try {
            return HeaderTraces.read(device);
        } catch (IOException e) {
            VolumeException failure = new VolumeException.NoDevice(Fault.own("open", device));
            failure.initCause(e);
            throw failure;
        }
    }

    private Volume.Layout destroySlots(HeaderTraces traces) throws VolumeException {
        try (Volume volume = cryptsetup.open(device)) {
            cryptsetup.close(Creation.initialising(volume.uuid()));
            requireUnused();
            Volume.Layout layout = volume.layout();
            for (int slot : volume.slots()) {
                try {
                    volume.removeSlot(slot);
                } catch (VolumeException e) {
                    // Such as a volume half-way through a re-encryption: what is not destroyed is overwritten.
                }
            }
            return layout;
        } catch (VolumeException.NotLuks | VolumeException.DamagedHeader | VolumeException.Truncated e) {
            requireUnused();
            return traces.luks2() ? LONGEST : Creation.LAYOUT;
        }
    }

    /** O_EXCL on a block device is refused while it is mapped or mounted; on a file it means nothing. */
    private void requireUnused() throws VolumeException {
        Library library = cryptsetup.library();
        SystemCalls system = library.system();
        int fd = system.open(device.toString(), SystemCalls.O_RDWR | SystemCalls.O_EXCL | SystemCalls.O_CLOEXEC);
        if (fd < 0) {
            Fault fault = library.fault("open", device, library.lastErrno(), "");
            throw fault.errnoName().equals("EBUSY")
                    ? new VolumeException.DeviceBusy(fault)
                    : new VolumeException.NoDevice(fault);
        }
        system.close(fd);
    }

    private void verify(long header) throws VolumeException {
        long at = Overwriting.firstByte(device, header);
        if (at < header) {
            throw new VolumeException.NotErased(Fault.own("erase", device), "another byte at " + at);
        }
        try (Volume left = cryptsetup.open(device)) {
            throw new VolumeException.NotErased(Fault.own("erase", device), "a header with UUID " + left.uuid());
        } catch (VolumeException.NotLuks e) {
            // as it should be
        }
    }
}
