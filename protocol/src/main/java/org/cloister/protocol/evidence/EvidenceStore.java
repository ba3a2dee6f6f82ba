package org.cloister.protocol.evidence;

import java.io.IOException;
import java.util.Optional;

/** Store of the statements that a host signed or was about to sign, one per life of a VM. */
public interface EvidenceStore {
    /**
     * Returns the statement of a life, if one is recorded.
     *
     * @return the payload recorded for that life, as durable as a new one
     */
    Optional<byte[]> find(String vm) throws IOException;

    /**
     * Stores the payload durably: it survives any crash after this returns.
     *
     * @throws java.nio.file.FileAlreadyExistsException if a payload is already recorded for that life
     */
    void store(String vm, byte[] payload) throws IOException;
}
