package org.cloister.vm.controller.provision;

import java.io.IOException;
import org.cloister.vm.controller.storage.NfsExport;
import org.cloister.vm.system.tunnel.TunnelPeer;

/** Grants workers access to this VM and its storage. Calls may block. */
public interface WorkerAccess {
    /**
     * Permits the machine's packets, in a tunnel of its own, and what the export permits. A repeated call changes
     * nothing.
     *
     * @throws IOException if a step failed; the steps before it are undone
     */
    void grant(TunnelPeer worker, NfsExport export) throws IOException;

    /**
     * Revokes all access. May be called again, and for a machine that was never admitted.
     *
     * @throws IOException with the first step that failed; all were tried
     */
    void revoke(TunnelPeer worker, NfsExport export) throws IOException;
}
