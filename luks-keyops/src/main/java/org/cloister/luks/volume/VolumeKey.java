package org.cloister.luks.volume;

import org.cloister.luks.secret.SecretMemory;

/** What opens a volume. A key borrows its secret: who made that closes it. */
public sealed interface VolumeKey {
    SecretMemory secret();

    /** The key that encrypts the sectors, of {@link VolumeIntegrity#volumeKeyLength} bytes. */
    record OfVolume(SecretMemory secret) implements VolumeKey {}

    /** What a key slot's derivation takes: a random key or a passphrase. */
    record OfSlot(SecretMemory secret) implements VolumeKey {}

    static VolumeKey ofVolume(SecretMemory secret) {
        return new OfVolume(secret);
    }

    static VolumeKey ofSlot(SecretMemory secret) {
        return new OfSlot(secret);
    }
}
