package org.cloister.luks.volume;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import jnr.ffi.LastError;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import org.cloister.luks.volume.VolumeException.Fault;
import org.jspecify.annotations.Nullable;

/** Serialized calls of the loaded libraries; converts each result below zero to the exception for it. */
final class CryptsetupLibrary {
    private static final Object LOCK = new Object();
    private static final Path UDEV = Path.of("/run/udev/control");
    private static final Path MISC_DEVICES = Path.of("/proc/misc");
    /**
     * Functions that return EPERM, or ENOENT when there are no slots at all, when a key does not belong to the volume.
     */
    private static final Set<String> KEYED = Set.of(
            "crypt_activate_by_passphrase",
            "crypt_activate_by_volume_key",
            "crypt_volume_key_verify",
            "crypt_keyslot_add_by_passphrase",
            "crypt_keyslot_add_by_volume_key");

    private final LibCryptsetup lib;
    private final VolumeLibC system;

    private CryptsetupLibrary(LibCryptsetup lib, VolumeLibC system) {
        this.lib = lib;
        this.system = system;
    }

    static CryptsetupLibrary load(String name) throws VolumeException {
        VolumeLibC system =
                LibraryLoader.create(VolumeLibC.class).failImmediately().load("c");
        Pointer handle = system.dlopen(name, VolumeLibC.RTLD_NOW);
        if (handle == null) {
            throw new VolumeException.LibraryMissing(name, String.valueOf(system.dlerror()));
        }
        for (Method function : LibCryptsetup.class.getMethods()) {
            if (system.dlsym(handle, function.getName()) == null) {
                throw new VolumeException.LibraryTooOld(name, function.getName());
            }
        }
        if (!Files.exists(UDEV)) {
            system.setenv("DM_DISABLE_UDEV", "1", 1);
        }
        LibCryptsetup lib =
                LibraryLoader.create(LibCryptsetup.class).failImmediately().load(name);
        synchronized (LOCK) {
            lib.crypt_set_debug_level(LibCryptsetup.CRYPT_DEBUG_NONE);
            lib.crypt_set_log_callback(null, CryptsetupErrorLog.INSTANCE, null);
        }
        return new CryptsetupLibrary(lib, system);
    }

    LibCryptsetup lib() {
        return lib;
    }

    VolumeLibC system() {
        return system;
    }

    Runtime runtime() {
        return Runtime.getRuntime(lib);
    }

    /** Registers the log callback for this context too; the library prints messages of a context that has none. */
    void watch(Pointer cd) {
        synchronized (LOCK) {
            lib.crypt_set_log_callback(cd, CryptsetupErrorLog.INSTANCE, null);
        }
    }

    void free(Pointer cd) {
        synchronized (LOCK) {
            lib.crypt_free(cd);
        }
    }

    /** Runs a call that cannot fail, and returns its result. */
    <T extends @Nullable Object> T query(java.util.function.Supplier<T> question) {
        synchronized (LOCK) {
            return question.get();
        }
    }

    int call(String function, Object subject, Call call) throws VolumeException {
        synchronized (LOCK) {
            CryptsetupErrorLog.INSTANCE.clear();
            int result = call.run();
            if (result < 0) {
                throw refusal(fault(function, subject, -result, CryptsetupErrorLog.INSTANCE.text()));
            }
            return result;
        }
    }

    @FunctionalInterface
    interface Call {
        int run();
    }

    Fault fault(String function, Object subject, int errno, String message) {
        String name = system.strerrorname_np(errno);
        return new Fault(function, subject.toString(), errno, name == null ? "errno " + errno : name, message);
    }

    int lastErrno() {
        return LastError.getLastError(Runtime.getRuntime(system));
    }

    private static VolumeException refusal(Fault fault) {
        if (fault.call().equals("crypt_load")) {
            return noHeader(fault);
        }
        if (fault.call().startsWith("crypt_init") && !fault.errnoName().equals("ENOMEM")) {
            return new VolumeException.NoDevice(fault);
        }
        return switch (fault.errnoName()) {
            case "EPERM", "ENOENT" ->
                KEYED.contains(fault.call())
                        ? new VolumeException.WrongKey(fault)
                        : new VolumeException.CallFailed(fault);
            case "EBUSY" -> new VolumeException.DeviceBusy(fault);
            case "EEXIST" -> new VolumeException.NameInUse(fault);
            default -> isDeviceMapperThere() ? new VolumeException.CallFailed(fault) : withoutDeviceMapper(fault);
        };
    }

    /**
     * Returns the exception for a missing device-mapper. The library returns ENOTSUP or EINVAL then, as it does for
     * other reasons.
     */
    private static VolumeException withoutDeviceMapper(Fault fault) {
        boolean mapping =
                fault.call().startsWith("crypt_activate") || fault.call().startsWith("crypt_deactivate");
        return mapping ? new VolumeException.DeviceMapperMissing(fault) : new VolumeException.CallFailed(fault);
    }

    /** Returns whether device-mapper is there; true if that cannot be read. */
    static boolean isDeviceMapperThere() {
        try {
            return Files.readString(MISC_DEVICES).contains(" device-mapper\n");
        } catch (IOException e) {
            return true;
        }
    }

    private static VolumeException noHeader(Fault fault) {
        LuksHeaderProbe traces;
        try {
            traces = LuksHeaderProbe.read(Path.of(fault.subject()));
        } catch (IOException e) {
            return new VolumeException.NoDevice(fault);
        }
        if (traces.luks1()) {
            return new VolumeException.Luks1(fault);
        }
        if (traces.isTruncated()) {
            return new VolumeException.Truncated(fault, traces.expected(), traces.length());
        }
        return traces.luks2() ? new VolumeException.DamagedHeader(fault) : new VolumeException.NotLuks(fault);
    }
}
