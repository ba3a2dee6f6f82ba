package org.cloister.host.receipts;

import java.io.IOException;
import java.util.List;

/** Stores VM histories. Each is complete, in its previous or its new version, whenever the process ends. */
interface VmHistoryStore {
    /**
     * Returns all histories.
     *
     * @throws IOException if one cannot be read, or is malformed
     */
    List<VmHistory> all() throws IOException;

    /** Writes a history, replacing the VM's earlier one; it is on disk when this returns. */
    void put(VmHistory history) throws IOException;

    /** Deletes a history. No error if it does not exist; after a crash it may exist again. */
    void drop(VmHistory history) throws IOException;
}
