package org.cloister.host.receipt;

import java.io.IOException;
import java.util.List;

/** Where lives are kept: each is there whole, as it was before or as it is now, whenever the process ends. */
interface Lives {
    /** @throws IOException if one cannot be read, or is none */
    List<Life> all() throws IOException;

    /** New, or in the place of the one of its VM. On disk when it returns. */
    void put(Life life) throws IOException;

    /** No error if it is gone; after a crash it may be there again. */
    void drop(Life life) throws IOException;
}
