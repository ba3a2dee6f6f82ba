package org.cloister.host.channel;

import java.io.IOException;
import org.cloister.host.vm.ResourceOwner;

/** Hears that a VM's agent spoke: once for each channel that was opened, so again after the host's daemon was restarted. */
@FunctionalInterface
public interface GuestRegistrationListener {
    /**
     * May block; one call at a time.
     *
     * @throws IOException if that could not be written down; it is told again
     */
    void onRegistered(ResourceOwner owner) throws IOException;
}
