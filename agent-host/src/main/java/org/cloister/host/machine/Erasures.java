package org.cloister.host.machine;

import java.io.IOException;
import org.cloister.host.disk.Erasure;

/** Told of each scratch file when nothing of what was written is in it any more, and its name is still there. */
public interface Erasures {
    /** @throws IOException if it could not be written down: the file stays, and it is erased and told again */
    void erased(Erasure erasure) throws IOException;
}
