package org.cloister.host.reconcile;

import java.io.IOException;
import org.cloister.host.vm.ResourceOwner;

/**
 * The host as the ledger's rounds see and change it. Each call has a time limit of its own. What throws may or may not have
 * happened: the next look tells.
 */
public interface HostBackend {
    /** Asks every source; one that does not answer in time, or not readably, is unknown. */
    ObservedState observe();

    /** The guest goes on; no error if it runs. */
    void resume(ResourceOwner owner) throws IOException;

    /** The port is as the VM's allocation says. */
    void restorePort(ResourceOwner owner) throws IOException;

    /** The guest is asked to power off; whether it does is seen later. */
    void requestPowerOff(ResourceOwner owner) throws IOException;

    /** Returns when it is gone, with what was written to it; no error if it was gone. Touches nothing of another owner. */
    void remove(ResourceOwner owner, ResourceKind part) throws IOException;
}
