package org.cloister.vm.controller.provision;

import java.io.IOException;
import java.util.Collection;
import org.cloister.vm.controller.storage.NfsExport;
import org.cloister.vm.system.tunnel.TunnelPeer;

/** Grants workers access to this VM and its storage. Calls may block. */
public interface WorkerAccess {
    /**
     * A worker's access: its machine's packets, in a tunnel of its own, and what the export permits.
     *
     * @param worker its machine
     */
    record Grant(TunnelPeer worker, NfsExport export) {}

    /**
     * Permits what these grants say. A repeated call changes nothing.
     *
     * @throws IOException if a step failed; what the call has permitted is undone
     */
    void grant(Collection<Grant> grants) throws IOException;

    /**
     * Revokes all access. May be called again, and for machines that were never admitted.
     *
     * @throws IOException with the first step that failed; all were tried
     */
    void revoke(Collection<Grant> grants) throws IOException;
}
