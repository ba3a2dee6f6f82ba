package org.cloister.host.reconcile;

import java.io.IOException;
import org.cloister.host.vm.ResourceOwner;

/**
 * Backend through which reconcile passes observe and change the host. Each call has a time limit of its own. After an
 * exception it is unknown whether the change took effect; the next observation shows it.
 */
public interface HostBackend {
    /** Queries every source; a source that does not answer in time, or with unreadable data, is unknown. */
    ObservedState observe();

    /** Resumes the guest; no error if it runs. */
    void resume(ResourceOwner owner) throws IOException;

    /** Creates the port as the VM's allocation requires it. */
    void restorePort(ResourceOwner owner) throws IOException;

    /** Asks the guest to power off; a later observation shows whether it does. */
    void requestPowerOff(ResourceOwner owner) throws IOException;

    /**
     * Removes a resource. Returns when it is gone, with all data written to it; no error if it was gone. Never changes
     * a resource of another owner.
     */
    void remove(ResourceOwner owner, ResourceKind part) throws IOException;
}
