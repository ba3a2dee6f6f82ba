package org.cloister.vm.controller.provision;

import java.io.IOException;
import org.cloister.vm.controller.storage.NfsExport;
import org.cloister.vm.system.tunnel.TunnelPeer;

/** Who may come to this VM, and what each may do with its storage. Calls may block. */
public interface WorkerAccess {
    /**
     * Packets of that machine, in a tunnel of its own, and what the export says. Once more changes nothing.
     *
     * @throws IOException if a step failed; those before it are taken back
     */
    void grant(TunnelPeer worker, NfsExport export) throws IOException;

    /**
     * Nothing of it any more. May be called again, and for one that was never admitted.
     *
     * @throws IOException with the first step that failed; all were tried
     */
    void revoke(TunnelPeer worker, NfsExport export) throws IOException;
}
