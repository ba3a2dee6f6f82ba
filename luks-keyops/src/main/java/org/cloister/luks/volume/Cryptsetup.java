package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_ACTIVE;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_BUSY;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_INACTIVE;

import java.nio.file.Path;
import java.util.Optional;
import jnr.ffi.Pointer;
import jnr.ffi.byref.PointerByReference;
import org.cloister.luks.secret.SecretMemory;

/**
 * Creates, opens, maps and erases LUKS2 volumes with libcryptsetup. A process has one, created at its start;
 * {@link #load} fails when the library is missing or too old. Safe for use by several threads; calls are serialized,
 * because the library's device-mapper context and log are global.
 */
public final class Cryptsetup {
    private final CryptsetupLibrary library;

    private Cryptsetup(CryptsetupLibrary library) {
        this.library = library;
    }

    /**
     * Loads libcryptsetup.so.12 and resolves each function that will be called. If no udevd runs, it first sets
     * {@code DM_DISABLE_UDEV=1} in the process's environment: libdevmapper then makes device nodes itself and does not
     * wait for udevd.
     */
    public static Cryptsetup load() throws VolumeException {
        return new Cryptsetup(CryptsetupLibrary.load("libcryptsetup.so.12"));
    }

    CryptsetupLibrary library() {
        return library;
    }

    /**
     * Creates a LUKS2 volume without key slots on a device that has no LUKS header. Until the first slot is added, only
     * {@code volumeKey} opens it. A failure leaves no header.
     *
     * @param volumeKey {@link VolumeIntegrity#volumeKeyLength} random bytes; stays the caller's
     */
    public LuksVolume create(Path device, VolumeFormat format, SecretMemory volumeKey) throws VolumeException {
        return new VolumeCreation(this, device, format).run(volumeKey);
    }

    /** Reads the header and maps nothing. A damaged copy of the header is repaired from the other copy. */
    public LuksVolume open(Path device) throws VolumeException {
        return open(device, VolumeIntegrity.NONE);
    }

    /** Reads the header as {@link #open(Path)} does; the volume is mapped only if it has this integrity. */
    public LuksVolume open(Path device, VolumeIntegrity integrity) throws VolumeException {
        return load(
                device,
                context("crypt_init", device, cd -> library.lib().crypt_init(cd, device.toString())),
                integrity);
    }

    /** Reads the header as {@link #open(Path)} does, for a volume whose header is a separate file. */
    public LuksVolume open(Path header, Path data) throws VolumeException {
        return load(
                header,
                context(
                        "crypt_init_data_device",
                        header,
                        cd -> library.lib().crypt_init_data_device(cd, header.toString(), data.toString())),
                VolumeIntegrity.NONE);
    }

    private LuksVolume load(Path device, Pointer cd, VolumeIntegrity integrity) throws VolumeException {
        LuksVolume volume = new LuksVolume(library, device, cd, integrity);
        boolean loaded = false;
        try {
            library.call("crypt_load", device, () -> library.lib().crypt_load(cd, LibCryptsetup.CRYPT_LUKS2, null));
            loaded = true;
            return volume;
        } finally {
            if (!loaded) {
                volume.close();
            }
        }
    }

    /**
     * Returns the mapping of that name, or empty if it does not exist.
     *
     * @throws VolumeException.MappingUnknown when the kernel does not report it
     */
    public Optional<VolumeMapping> status(MappingName name) throws VolumeException {
        int status = state(name);
        if (status == CRYPT_INACTIVE) {
            return Optional.empty();
        }
        Pointer cd =
                context("crypt_init_by_name", name.text(), ref -> library.lib().crypt_init_by_name(ref, name.text()));
        try (LuksVolume volume = new LuksVolume(library, Path.of(name.text()), cd, VolumeIntegrity.NONE)) {
            return Optional.of(volume.mapping(name, status == CRYPT_BUSY));
        }
    }

    /**
     * Removes the mapping, and with it the key in the kernel.
     *
     * @return whether the mapping existed
     * @throws VolumeException.DeviceBusy when it is mounted or open
     * @throws VolumeException.MappingUnknown when the kernel does not report whether it exists
     */
    public boolean close(MappingName name) throws VolumeException {
        if (state(name) == CRYPT_INACTIVE) {
            return false;
        }
        library.call(
                "crypt_deactivate_by_name",
                name.text(),
                () -> library.lib().crypt_deactivate_by_name(null, name.text(), 0));
        return true;
    }

    private int state(MappingName name) throws VolumeException {
        int status =
                library.call("crypt_status", name.text(), () -> library.lib().crypt_status(null, name.text()));
        return state(name, status, CryptsetupLibrary.isDeviceMapperThere());
    }

    /**
     * Returns the state of a mapping. Without device-mapper nothing can be mapped, and the library returns
     * CRYPT_INVALID then as well.
     */
    static int state(MappingName name, int status, boolean deviceMapper) throws VolumeException {
        return switch (status) {
            case CRYPT_INACTIVE, CRYPT_ACTIVE, CRYPT_BUSY -> status;
            default -> {
                if (deviceMapper) {
                    // Its key may be in the kernel all the same.
                    throw new VolumeException.MappingUnknown(
                            VolumeException.Fault.own("crypt_status", name.text()), status);
                }
                yield CRYPT_INACTIVE;
            }
        };
    }

    /**
     * Destroys all key slots, overwrites both headers and the area of the key slots, reads it back, and verifies that
     * the device no longer opens. It can be called again after a kill at any point, and on a device whose header is
     * damaged or missing. README, "Erase", describes what an earlier copy of the header still permits.
     */
    public void erase(Path device, DeviceErasure.Scope scope) throws VolumeException {
        new DeviceErasure(this, device).run(scope);
    }

    Pointer context(String function, Object subject, Initialisation init) throws VolumeException {
        PointerByReference cd = new PointerByReference();
        library.call(function, subject, () -> init.run(cd));
        library.watch(cd.getValue());
        return cd.getValue();
    }

    @FunctionalInterface
    interface Initialisation {
        int run(PointerByReference cd);
    }
}
