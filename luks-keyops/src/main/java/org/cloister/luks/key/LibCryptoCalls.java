package org.cloister.luks.key;

import java.util.function.Consumer;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.byref.PointerByReference;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretException;
import org.jspecify.annotations.Nullable;

/**
 * The loaded libcrypto (OpenSSL 3) and the allocator of the secrets it works on. One per process; safe for use by
 * several threads. libcrypto stores its big numbers that hold secrets on its own secure heap: locked, in no dump,
 * cleared when freed.
 */
public final class LibCryptoCalls {
    private static final String LIBRARY = "libcrypto.so.3";
    private static final long OLDEST = 0x30000000L;

    /**
     * Size of the secure heap in bytes. A P-521 operation needs some 10 KiB. A call fails when the heap is full;
     * libcrypto never uses another heap instead.
     */
    private static final long SECURE_HEAP = 1 << 18;

    private static final long SECURE_HEAP_SMALLEST = 16;
    private static final int ERROR_TEXT = 256;

    private final LibCrypto lib;
    private final Runtime runtime;
    private final SecretAllocator secrets;

    private LibCryptoCalls(LibCrypto lib, SecretAllocator secrets) {
        this.lib = lib;
        this.runtime = Runtime.getRuntime(lib);
        this.secrets = secrets;
    }

    /**
     * Loads the library and creates its secure heap.
     *
     * @throws SecretException when the library is missing or too old, or its heap cannot be locked though
     *     {@code secrets} are
     */
    public static LibCryptoCalls load(SecretAllocator secrets) throws SecretException {
        return load(secrets, LIBRARY);
    }

    static LibCryptoCalls load(SecretAllocator secrets, String library) throws SecretException {
        LibCrypto lib;
        long version;
        try {
            lib = LibraryLoader.create(LibCrypto.class).failImmediately().load(library);
            // The call is made at once because a missing function shows only when it is called. All other functions are
            // in 3.0 too.
            version = lib.OpenSSL_version_num();
        } catch (UnsatisfiedLinkError e) {
            throw new SecretException("keys", library, 0, String.valueOf(e.getMessage()), "install libssl3");
        }
        if (version < OLDEST) {
            throw new SecretException(
                    "keys",
                    library,
                    0,
                    "want OpenSSL 3.0 or newer, have 0x" + Long.toHexString(version),
                    "install libssl3");
        }
        if (lib.CRYPTO_secure_malloc_initialized() == 0) {
            int made = lib.CRYPTO_secure_malloc_init(SECURE_HEAP, SECURE_HEAP_SMALLEST);
            if (made == 0 || (made == 2 && secrets.locked())) {
                throw new SecretException(
                        "keys",
                        "CRYPTO_secure_malloc_init",
                        0,
                        made == 0 ? "no memory" : "memory was not locked",
                        "raise the limit of locked memory (ulimit -l, LimitMEMLOCK=) or give CAP_IPC_LOCK");
            }
        }
        return new LibCryptoCalls(lib, secrets);
    }

    public SecretAllocator secrets() {
        return secrets;
    }

    LibCrypto lib() {
        return lib;
    }

    Runtime runtime() {
        return runtime;
    }

    /** An object of libcrypto's that has to be freed. */
    record Native(Pointer pointer, Consumer<Pointer> free) implements AutoCloseable {
        @Override
        public void close() {
            free.accept(pointer);
        }
    }

    Native own(String call, @Nullable Pointer made, Consumer<Pointer> free) throws KeyException {
        if (made == null) {
            throw failed(call);
        }
        return new Native(made, free);
    }

    /**
     * Makes an EC key of its parts; a point that is not on its curve makes it fail.
     *
     * @param selection which parts there are (EVP_PKEY_PUBLIC_KEY and others of openssl/evp.h)
     */
    Native importKey(int selection, OsslParameters parts) throws KeyException {
        try (Native context = keyContext()) {
            check("EVP_PKEY_fromdata_init", lib.EVP_PKEY_fromdata_init(context.pointer()));
            PointerByReference key = new PointerByReference();
            check(
                    "EVP_PKEY_fromdata",
                    parts.callWith(array -> lib.EVP_PKEY_fromdata(context.pointer(), key, selection, array)));
            return own("EVP_PKEY_fromdata", key.getValue(), lib::EVP_PKEY_free);
        }
    }

    /** Returns what makes an EC key. */
    Native keyContext() throws KeyException {
        return own(
                "EVP_PKEY_CTX_new_from_name", lib.EVP_PKEY_CTX_new_from_name(null, "EC", null), lib::EVP_PKEY_CTX_free);
    }

    /** Checks a result; most functions of libcrypto return 1 for success, and 0 or below on failure. */
    void check(String call, int result) throws KeyException {
        if (result <= 0) {
            throw failed(call);
        }
    }

    KeyException failed(String call) {
        long error = lib.ERR_get_error();
        String reason = "no reason given";
        if (error != 0) {
            Pointer text = Memory.allocateDirect(runtime, ERROR_TEXT);
            lib.ERR_error_string_n(error, text, ERROR_TEXT);
            reason = text.getString(0);
        }
        forgetErrors();
        return new KeyException.CallFailed(call, reason);
    }

    /** Clears the thread's queue of errors; an error left in it would be attributed to a later call. */
    void forgetErrors() {
        lib.ERR_clear_error();
    }

    /** Copies public bytes for a native call. The copy has at least one byte, so that the pointer is valid. */
    Pointer publicBytes(byte[] bytes) {
        Pointer copy = Memory.allocateDirect(runtime, Math.max(1, bytes.length));
        copy.put(0, bytes, 0, bytes.length);
        return copy;
    }
}
