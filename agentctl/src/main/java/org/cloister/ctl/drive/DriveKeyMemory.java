package org.cloister.ctl.drive;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.ctl.key.Passphrase;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.jspecify.annotations.Nullable;

/**
 * Locked memory, excluded from dumps, that holds a drive's key while it is open, and the keys and passphrases that open
 * it.
 */
record DriveKeyMemory(SecretAllocator secrets, LibCryptoCalls crypto, Hpke hpke) {
    /** Maximum length of a passphrase or a recovery key, in bytes. */
    private static final int MAX_SECRET = 1024;

    /**
     * Allocates locked memory and loads libcrypto.
     *
     * @throws IOException if this machine cannot lock memory or has no libcrypto
     */
    static DriveKeyMemory open() throws IOException {
        SecretAllocator secrets = SecretAllocator.harden(SecretAllocator.Locking.REQUIRED);
        LibCryptoCalls crypto = LibCryptoCalls.load(secrets);
        return new DriveKeyMemory(secrets, crypto, new Hpke(crypto));
    }

    /**
     * Reads a secret.
     *
     * @param descriptor file descriptor to read from; null to ask at the terminal
     * @param what name of the secret, for people
     */
    SecretMemory readSecret(@Nullable Integer descriptor, String what) throws IOException {
        if (descriptor != null) {
            return secrets.readLine(Path.of("/proc/self/fd/" + descriptor), MAX_SECRET);
        }
        try (Passphrase typed = Passphrase.prompt(what, DriveKeyOptions.SECRET_FD)) {
            return secrets.moveFrom(typed.bytes());
        }
    }
}
