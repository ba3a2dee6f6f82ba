package org.cloister.host.receipts;

import java.io.IOException;
import java.util.List;

/** Where lives are kept: each is there whole, as it was before or as it is now, whenever the process ends. */
interface VmHistoryStore {
    /** @throws IOException if one cannot be read, or is none */
    List<VmHistory> all() throws IOException;

    /** New, or in the place of the one of its VM. On disk when it returns. */
    void put(VmHistory life) throws IOException;

    /** No error if it is gone; after a crash it may be there again. */
    void drop(VmHistory life) throws IOException;
}
