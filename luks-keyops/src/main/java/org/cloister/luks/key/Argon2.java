package org.cloister.luks.key;

import java.lang.ref.Reference;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Pointer;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.SecretMemory.Loan;

/**
 * Derives keys from passphrases with argon2id (RFC 9106) in libargon2. OpenSSL has argon2id from 3.2 on, which Debian
 * 12 and RHEL 9 do not ship; libcryptsetup depends on libargon2 there.
 */
public final class Argon2 {
    private static final String LIBRARY = "libargon2.so.1";

    private final LibArgon2 lib;
    private final LibCryptoCalls crypto;

    private Argon2(LibArgon2 lib, LibCryptoCalls crypto) {
        this.lib = lib;
        this.crypto = crypto;
    }

    /**
     * @throws SecretException when the library is missing
     */
    public static Argon2 load(LibCryptoCalls crypto) throws SecretException {
        return load(crypto, LIBRARY);
    }

    static Argon2 load(LibCryptoCalls crypto, String library) throws SecretException {
        try {
            LibArgon2 lib =
                    LibraryLoader.create(LibArgon2.class).failImmediately().load(library);
            // The call is made at once because a missing function shows only when it is called.
            lib.argon2_error_message(0);
            return new Argon2(lib, crypto);
        } catch (UnsatisfiedLinkError e) {
            throw new SecretException("passphrases", library, 0, String.valueOf(e.getMessage()), "install libargon2-1");
        }
    }

    /**
     * Cost of one derivation, bounded so that it exhausts neither a daemon's memory nor a person's patience.
     *
     * @param memory in KiB
     */
    public record Cost(int passes, int memory, int lanes) {
        /** The second recommended option of RFC 9106, section 4: 64 MiB. */
        public static final Cost DEFAULT = new Cost(3, 1 << 16, 4);

        private static final int MAX_PASSES = 16;
        private static final int MIN_MEMORY = 1 << 13;
        private static final int MAX_MEMORY = 1 << 20;
        private static final int MAX_LANES = 8;

        public Cost {
            if (passes < 1
                    || passes > MAX_PASSES
                    || memory < MIN_MEMORY
                    || memory > MAX_MEMORY
                    || lanes < 1
                    || lanes > MAX_LANES) {
                throw new IllegalArgumentException("argon2id: want 1 to " + MAX_PASSES + " passes, " + MIN_MEMORY
                        + " to "
                        + MAX_MEMORY + " KiB, 1 to " + MAX_LANES + " lanes, have " + passes + ", " + memory + ", "
                        + lanes);
            }
        }
    }

    SecretMemory derive(SecretMemory passphrase, byte[] salt, Cost cost, int length)
            throws KeyException, SecretException {
        Pointer saltBytes = crypto.publicBytes(salt);
        SecretMemory derived = crypto.secrets().allocate(length);
        int result;
        try (Loan password = passphrase.lend();
                Loan target = derived.lend()) {
            result = lib.argon2id_hash_raw(
                    cost.passes(),
                    cost.memory(),
                    cost.lanes(),
                    password.pointer(),
                    password.length(),
                    saltBytes,
                    salt.length,
                    target.pointer(),
                    target.length());
        } finally {
            Reference.reachabilityFence(saltBytes);
        }
        if (result != 0) {
            derived.close();
            throw new KeyException.CallFailed("argon2id_hash_raw", lib.argon2_error_message(result));
        }
        return derived;
    }
}
