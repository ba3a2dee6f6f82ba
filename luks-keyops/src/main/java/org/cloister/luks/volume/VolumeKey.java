package org.cloister.luks.volume;

import org.cloister.luks.secret.SecretMemory;

/** A key that opens a volume. It borrows its secret: the secret's creator closes it. */
public sealed interface VolumeKey {
    SecretMemory secret();

    /** The key that encrypts the sectors, of {@link VolumeIntegrity#volumeKeyLength} bytes. */
    record OfVolume(SecretMemory secret) implements VolumeKey {}

    /** The input of a key slot's derivation: a random key or a passphrase. */
    record OfSlot(SecretMemory secret) implements VolumeKey {}

    static VolumeKey ofVolume(SecretMemory secret) {
        return new OfVolume(secret);
    }

    static VolumeKey ofSlot(SecretMemory secret) {
        return new OfSlot(secret);
    }
}
