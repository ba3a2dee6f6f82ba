package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_KDF_ARGON2ID;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_KDF_PBKDF2;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_PBKDF_NO_BENCHMARK;

import jnr.ffi.Runtime;

/** How a slot turns its secret into a key. Fixed costs: no slot depends on how busy the machine was that made it. */
public enum KeySlotDerivation {
    /** For random keys of 32 to 64 bytes, which nobody guesses: PBKDF2 with the 1,000 iterations that LUKS2 demands. */
    RANDOM_KEY(32, 64),

    /**
     * For people: argon2id, 4 passes over 256 MiB, the least passes that libcryptsetup takes and memory that a VM of 768 MiB
     * has. Opening such a slot needs that memory again.
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
