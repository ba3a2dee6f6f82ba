package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_ACTIVATE_NO_JOURNAL;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_ACTIVATE_PRIVATE;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_LUKS2;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import jnr.ffi.Pointer;
import jnr.ffi.Struct;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.VolumeException.Fault;

/** Creates one volume. */
final class VolumeCreation {
    static final String SUBSYSTEM = "cloister";

    static final int SECTOR_SIZE = 4096;
    static final String CIPHER = "aes-xts-plain64";
    private static final int DATA_UNIT = 512;
    /**
     * Layout of 16 MiB, libcryptsetup's default size, but with copies of 64 KiB instead of 16: the tokens of a drive
     * are longer than the default's space for them.
     */
    static final LuksVolume.Layout LAYOUT = new LuksVolume.Layout(64L << 10, (16L << 20) - (128L << 10));

    private static final long HEADER = LAYOUT.length();

    private final Cryptsetup cryptsetup;
    private final CryptsetupLibrary library;
    private final Path device;
    private final VolumeFormat format;

    VolumeCreation(Cryptsetup cryptsetup, Path device, VolumeFormat format) {
        this.cryptsetup = cryptsetup;
        this.library = cryptsetup.library();
        this.device = device;
        this.format = format;
    }

    LuksVolume run(SecretMemory volumeKey) throws VolumeException {
        int expected = format.integrity().volumeKeyLength();
        if (volumeKey.length() != expected) {
            throw new VolumeException.WrongKeyLength(
                    Fault.own("crypt_format", device), Integer.toString(expected), volumeKey.length());
        }
        requireBlankWithRoom();
        Pointer cd =
                cryptsetup.context("crypt_init", device, ref -> library.lib().crypt_init(ref, device.toString()));
        LuksVolume volume = new LuksVolume(library, device, cd, format.integrity());
        try {
            write(volume, volumeKey);
            if (format.integrity() != VolumeIntegrity.NONE) {
                writeAllTags(volume, volumeKey);
            }
            return volume;
        } catch (VolumeException.DeviceBusy e) {
            // Nothing was written, and the existing header belongs to someone.
            volume.close();
            throw e;
        } catch (VolumeException e) {
            volume.close();
            try {
                cryptsetup.erase(device, DeviceErasure.Scope.HEADER);
            } catch (VolumeException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
    }

    private void requireBlankWithRoom() throws VolumeException {
        LuksHeaderProbe traces;
        try {
            traces = LuksHeaderProbe.read(device);
        } catch (IOException e) {
            throw new VolumeException.NoDevice(Fault.own("open", device));
        }
        if (traces.luks1() || traces.luks2()) {
            throw new VolumeException.AlreadyLuks(Fault.own("crypt_format", device));
        }
        if (traces.length() < HEADER + SECTOR_SIZE) {
            throw new VolumeException.TooSmall(
                    Fault.own("crypt_format", device), HEADER + SECTOR_SIZE, traces.length());
        }
        if (Files.isRegularFile(device)) {
            reserve();
        }
    }

    /**
     * Reserves the file's space, so that a full disk is detected before the first byte is written, and never between
     * two copies of a header.
     */
    private void reserve() throws VolumeException {
        VolumeLibC system = library.system();
        int fd = system.open(device.toString(), VolumeLibC.O_RDWR | VolumeLibC.O_CLOEXEC);
        if (fd < 0) {
            throw new VolumeException.NoDevice(library.fault("open", device, library.lastErrno(), ""));
        }
        int errno = system.posix_fallocate(fd, 0, HEADER);
        system.close(fd);
        if (errno != 0) {
            throw new VolumeException.DiskFull(library.fault("posix_fallocate", device, errno, ""), HEADER);
        }
    }

    private void write(LuksVolume volume, SecretMemory volumeKey) throws VolumeException {
        CryptPbkdfType pbkdf = KeySlotDerivation.RANDOM_KEY.pbkdf(library.runtime());
        CryptParamsLuks2 parameters = new CryptParamsLuks2(library.runtime());
        parameters.pbkdf.set(Struct.getMemory(pbkdf));
        parameters.integrity.set(format.integrity().specification());
        parameters.sectorSize.set(SECTOR_SIZE);
        parameters.label.set(format.label());
        parameters.subsystem.set(SUBSYSTEM);
        volume.call(
                "crypt_set_metadata_size",
                cd -> library.lib().crypt_set_metadata_size(cd, LAYOUT.metadata(), LAYOUT.keyslots()));
        // The offset ignores the device's preferred alignment: the form that is opened again has one offset.
        volume.call("crypt_set_data_offset", cd -> library.lib().crypt_set_data_offset(cd, HEADER / DATA_UNIT));
        try (SecretMemory.Loan loan = volumeKey.lend()) {
            volume.call(
                    "crypt_format",
                    cd -> library.lib()
                            .crypt_format(
                                    cd,
                                    CRYPT_LUKS2,
                                    "aes",
                                    "xts-plain64",
                                    null,
                                    loan.pointer(),
                                    loan.length(),
                                    parameters));
        }
    }

    /** Writes all tags: a sector whose tag was never written cannot be read. */
    private void writeAllTags(LuksVolume volume, SecretMemory volumeKey) throws VolumeException {
        MappingName name = initialising(volume.uuid());
        volume.map(name, VolumeKey.ofVolume(volumeKey), CRYPT_ACTIVATE_PRIVATE | CRYPT_ACTIVATE_NO_JOURNAL);
        try {
            long bytes = volume.mapping(name, false).bytes();
            BlockOverwrite.overwrite(BlockOverwrite.ZEROS, name.path(), 0, bytes);
        } finally {
            cryptsetup.close(name);
        }
    }

    /** Returns the name of the mapping that a volume with integrity has while it is created; a kill may leave it. */
    static MappingName initialising(String uuid) {
        return new MappingName("cloister-init-" + uuid);
    }
}
