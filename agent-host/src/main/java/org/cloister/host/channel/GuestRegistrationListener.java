package org.cloister.host.channel;

import java.io.IOException;
import org.cloister.host.vm.ResourceOwner;

/**
 * Receives the registration of a VM's agent: once for each channel that is opened, so again after a restart of
 * agent-host.
 */
@FunctionalInterface
public interface GuestRegistrationListener {
    /**
     * Handles the registration. May block; the caller makes one call at a time.
     *
     * @throws IOException if it could not be persisted; the caller then retries
     */
    void onRegistered(ResourceOwner owner) throws IOException;
}
