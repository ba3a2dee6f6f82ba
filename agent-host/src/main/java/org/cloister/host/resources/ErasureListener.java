package org.cloister.host.resources;

import java.io.IOException;
import org.cloister.host.scratch.ScratchFileErasure;

/** Receives each scratch file whose content was erased, while its name still exists. */
public interface ErasureListener {
    /**
     * Records the erasure.
     *
     * @throws IOException if it could not be persisted: the file stays, and is erased and reported again
     */
    void onErased(ScratchFileErasure erasure) throws IOException;
}
