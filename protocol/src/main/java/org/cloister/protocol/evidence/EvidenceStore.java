package org.cloister.protocol.evidence;

import java.io.IOException;
import java.util.Optional;

/** What a host remembers of the statements it signed or was about to sign, one a VM life. */
public interface EvidenceStore {
    /** @return the payload recorded for that life, kept for good like a new one */
    Optional<byte[]> find(String vm) throws IOException;

    /**
     * Keeps it for good: when this returns, no crash forgets it.
     *
     * @throws java.nio.file.FileAlreadyExistsException if that life has one, whoever recorded it
     */
    void store(String vm, byte[] payload) throws IOException;
}
