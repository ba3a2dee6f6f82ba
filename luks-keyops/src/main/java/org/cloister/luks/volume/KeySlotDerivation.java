package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_KDF_ARGON2ID;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_KDF_PBKDF2;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_PBKDF_NO_BENCHMARK;

import jnr.ffi.Runtime;

/**
 * Derivation of a slot's key from its secret. Costs are fixed: no slot depends on the load of the machine that made it.
 */
public enum KeySlotDerivation {
    /**
     * PBKDF2 with the 1,000 iterations that LUKS2 demands, for random keys of 32 to 64 bytes, which cannot be guessed.
     */
    RANDOM_KEY(32, 64),

    /**
     * argon2id, 4 passes over 256 MiB, for passphrases. These are the fewest passes that libcryptsetup accepts, and
     * memory that a VM of 768 MiB has. Opening such a slot needs that memory again.
     */
    PASSPHRASE(8, 512);

    static final int ITERATIONS = 1000;
    static final int PASSES = 4;
    static final int MEMORY_KIB = 256 << 10;
    static final int THREADS = 4;

    private final int shortest;
    private final int longest;

    KeySlotDerivation(int shortest, int longest) {
        this.shortest = shortest;
        this.longest = longest;
    }

    boolean acceptsLength(int length) {
        return length >= shortest && length <= longest;
    }

    String lengths() {
        return shortest + " to " + longest;
    }

    CryptPbkdfType pbkdf(Runtime runtime) {
        CryptPbkdfType pbkdf = new CryptPbkdfType(runtime);
        pbkdf.hash.set("sha256");
        pbkdf.flags.set(CRYPT_PBKDF_NO_BENCHMARK);
        switch (this) {
            case RANDOM_KEY -> {
                pbkdf.type.set(CRYPT_KDF_PBKDF2);
                pbkdf.iterations.set(ITERATIONS);
            }
            case PASSPHRASE -> {
                pbkdf.type.set(CRYPT_KDF_ARGON2ID);
                pbkdf.iterations.set(PASSES);
                pbkdf.maxMemoryKb.set(MEMORY_KIB);
                pbkdf.parallelThreads.set(THREADS);
            }
        }
        return pbkdf;
    }
}
