package org.cloister.protocol.evidence;

import java.nio.file.FileAlreadyExistsException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** An evidence store for a host that is never killed: agent-host's own keeps its statements in files. */
public final class MemoryEvidenceStore implements EvidenceStore {
    private final Map<String, byte[]> payloads = new HashMap<>();

    @Override
    public Optional<byte[]> find(String vm) {
        return Optional.ofNullable(payloads.get(vm));
    }

    @Override
    public void store(String vm, byte[] payload) throws FileAlreadyExistsException {
        if (payloads.putIfAbsent(vm, payload) != null) {
            throw new FileAlreadyExistsException(vm);
        }
    }
}
