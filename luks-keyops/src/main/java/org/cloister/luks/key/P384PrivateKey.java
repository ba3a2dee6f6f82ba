package org.cloister.luks.key;

import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.security.PrivateKey;
import org.cloister.luks.key.LibCryptoCalls.Native;
import org.jspecify.annotations.Nullable;

/**
 * A private key of P-384 in libcrypto, on its secure heap: for Java's cryptography, which does not see its value. It is
 * cleared and freed on close. Thread-safe.
 */
@SuppressWarnings("serial") // refuses to be written
public final class P384PrivateKey implements PrivateKey, AutoCloseable {
    private transient @Nullable Native key;
    private transient int users;
    private transient boolean closed;

    P384PrivateKey(Native key) {
        this.key = key;
    }

    private synchronized Native acquire() {
        Native open = key;
        if (closed || open == null) {
            throw new IllegalStateException("private key: want an open one, have a closed one");
        }
        users++;
        return open;
    }

    private synchronized void release() {
        users--;
        freeIfUnused();
    }

    private void freeIfUnused() {
        Native open = key;
        if (closed && users == 0 && open != null) {
            key = null;
            open.close();
        }
    }

    /** A call with the key. */
    interface Use<T> {
        T with(Native key) throws IOException;
    }

    /** @throws IllegalStateException if the key is closed */
    <T> T use(Use<T> call) throws IOException {
        Native open = acquire();
        try {
            return call.with(open);
        } finally {
            release();
        }
    }

    @Override
    public String getAlgorithm() {
        return "EC";
    }

    /** Returns null: the key has no encoding outside libcrypto. */
    @Override
    public @Nullable String getFormat() {
        return null;
    }

    /** Returns null: the key has no encoding outside libcrypto. */
    @Override
    public byte @Nullable [] getEncoded() {
        return null;
    }

    /** Frees the key, at once or when the last call with it ends. Closing again does nothing. */
    @Override
    public synchronized void close() {
        closed = true;
        freeIfUnused();
    }

    @Override
    public void destroy() {
        close();
    }

    private void writeObject(ObjectOutputStream out) throws NotSerializableException {
        throw new NotSerializableException("a private key of libcrypto");
    }

    /** Returns the kind and nothing of the key. */
    @Override
    public String toString() {
        return "P384PrivateKey";
    }
}
