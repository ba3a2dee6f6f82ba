package org.cloister.vm.controller.daemons;

import java.io.IOException;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;

/**
 * The Local Slurm's munge key: random, new at each start of the controlling VM, and in no file except the one on tmpfs
 * that munged reads. It is sealed to each worker that gets it.
 */
public final class MungeKey implements AutoCloseable {
    private static final int BYTES = 128;

    private final SecretMemory key;

    private MungeKey(SecretMemory key) {
        this.key = key;
    }

    public static MungeKey generate(SecretAllocator secrets) throws IOException {
        return new MungeKey(secrets.random(BYTES));
    }

    /** Returns the key for munged and for sealing to workers; closed with this object. */
    public SecretMemory secret() {
        return key;
    }

    @Override
    public void close() {
        key.close();
    }
}
