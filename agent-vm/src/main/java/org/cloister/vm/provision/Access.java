package org.cloister.vm.provision;

import java.io.IOException;
import org.cloister.vm.storage.Export;
import org.cloister.vm.tunnel.Machine;

/** Who may come to this VM, and what each may do with its storage. Calls may block. */
public interface Access {
    /**
     * Packets of that machine, in a tunnel of its own, and what the export says. Once more changes nothing.
     *
     * @throws IOException if a step failed; those before it are taken back
     */
    void admit(Machine worker, Export export) throws IOException;

    /**
     * Nothing of it any more. May be called again, and for one that was never admitted.
     *
     * @throws IOException with the first step that failed; all were tried
     */
    void dismiss(Machine worker, Export export) throws IOException;
}
