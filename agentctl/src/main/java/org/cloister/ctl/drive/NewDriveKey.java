package org.cloister.ctl.drive;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.key.Passphrase;
import org.cloister.luks.key.Argon2;
import org.cloister.luks.key.RecoveryKey;
import org.cloister.luks.key.SealingKey;
import org.cloister.luks.key.SealingKeyFile;
import org.cloister.luks.secret.SecretMemory;
import org.jspecify.annotations.Nullable;

/** Writes the private half of a new key to drives: under a passphrase to a file, or as text to print. */
final class NewDriveKey {
    private static final int LEAST_PASSPHRASE = 12;

    private NewDriveKey() {}

    /**
     * Writes a key to a new file.
     *
     * @param descriptor file descriptor to read the new passphrase from; null to ask twice at the terminal
     * @param option the option that accepts the descriptor
     */
    static void write(DriveKeyMemory vault, SealingKey key, Path file, @Nullable Integer descriptor, String option)
            throws IOException {
        try (SecretMemory passphrase = chosen(vault, file, descriptor, option)) {
            if (passphrase.length() < LEAST_PASSPHRASE) {
                throw new MalformedException("new passphrase for " + file + ": want at least " + LEAST_PASSPHRASE
                        + " bytes, have " + passphrase.length());
            }
            Argon2 argon2 = Argon2.load(vault.crypto());
            AtomicFile.create(
                    file,
                    SealingKeyFile.seal(vault.crypto(), argon2, Argon2.Cost.DEFAULT, key, passphrase)
                            .json());
        }
    }

    private static SecretMemory chosen(DriveKeyMemory vault, Path file, @Nullable Integer descriptor, String option)
            throws IOException {
        String what = "new passphrase for " + file;
        if (descriptor != null) {
            return vault.readSecret(descriptor, what);
        }
        try (Passphrase typed = Passphrase.promptTwice(what, option)) {
            return vault.secrets().moveFrom(typed.bytes());
        }
    }

    /** Writes a recovery key's text and a line end to a file descriptor. */
    static void print(DriveKeyMemory vault, SealingKey key, int to) throws IOException {
        byte[] lineEnd = {'\n'};
        try (SecretMemory text = new RecoveryKey(vault.crypto()).print(key);
                SecretMemory end = vault.secrets().moveFrom(lineEnd)) {
            text.writeTo(to);
            end.writeTo(to);
        }
    }
}
