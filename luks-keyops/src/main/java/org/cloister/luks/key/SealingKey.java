package org.cloister.luks.key;

import org.cloister.luks.secret.SecretMemory;

/** A private key that opens sealed keys, and its public key. Closing it wipes the private key. */
public final class SealingKey implements AutoCloseable {
    private final SecretMemory scalar;
    private final SealingPublicKey publicKey;

    SealingKey(SecretMemory scalar, SealingPublicKey publicKey) {
        this.scalar = scalar;
        this.publicKey = publicKey;
    }

    public SealingPublicKey publicKey() {
        return publicKey;
    }

    /** Returns the private key: big-endian, of the curve's full length. */
    SecretMemory scalar() {
        return scalar;
    }

    @Override
    public void close() {
        scalar.close();
    }

    @Override
    public String toString() {
        return "SealingKey[" + publicKey + "]";
    }
}
