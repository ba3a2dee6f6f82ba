package org.cloister.ctl.drive;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.ctl.key.Secret;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.jspecify.annotations.Nullable;

/** Where a drive's key is while it is open, and the keys and passphrases that open it: locked memory that no dump carries. */
record Vault(Secrets secrets, Crypto crypto, Hpke hpke) {
    /** Of a passphrase or a recovery key, in bytes. */
    private static final int MAX_SECRET = 1024;

    /** @throws IOException if this machine has no memory to lock, or no libcrypto */
    static Vault open() throws IOException {
        Secrets secrets = Secrets.harden(Secrets.Locking.REQUIRED);
        Crypto crypto = Crypto.load(secrets);
        return new Vault(secrets, crypto, new Hpke(crypto));
    }

    /**
     * @param descriptor null to ask at the terminal
     * @param what is asked for, for people
     */
    SecretMemory secret(@Nullable Integer descriptor, String what) throws IOException {
        if (descriptor != null) {
            return secrets.readLine(Path.of("/proc/self/fd/" + descriptor), MAX_SECRET);
        }
        try (Secret typed = Secret.ask(what, DriveOptions.SECRET_FD)) {
            return secrets.take(typed.bytes());
        }
    }
}
