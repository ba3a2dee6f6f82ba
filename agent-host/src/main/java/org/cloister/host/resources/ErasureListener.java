package org.cloister.host.resources;

import java.io.IOException;
import org.cloister.host.scratch.ScratchFileErasure;

/** Told of each scratch file when nothing of what was written is in it any more, and its name is still there. */
public interface ErasureListener {
    /** @throws IOException if it could not be written down: the file stays, and it is erased and told again */
    void onErased(ScratchFileErasure erasure) throws IOException;
}
