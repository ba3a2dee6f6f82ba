package org.cloister.luks.volume;

import org.cloister.luks.secret.SecretMemory;

/** What opens a volume. A key borrows its secret: who made that closes it. */
public sealed interface Key {
    SecretMemory secret();

    /** The key that encrypts the sectors, of {@link Integrity#volumeKeyLength} bytes. */
    record OfVolume(SecretMemory secret) implements Key {}

    /** What a key slot's derivation takes: a random key or a passphrase. */
    record OfSlot(SecretMemory secret) implements Key {}

    static Key ofVolume(SecretMemory secret) {
        return new OfVolume(secret);
    }

    static Key ofSlot(SecretMemory secret) {
        return new OfSlot(secret);
    }
}
