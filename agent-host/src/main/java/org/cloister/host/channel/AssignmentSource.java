package org.cloister.host.channel;

import java.io.IOException;
import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.AssignmentMessage;

/** Reads the assignments of VMs, which were persisted before the VMs ran. */
@FunctionalInterface
public interface AssignmentSource {
    /**
     * Returns a VM's assignment. May block; the caller makes one call at a time.
     *
     * @return empty if no assignment was persisted for this VM
     */
    Optional<AssignmentMessage.Assigned> of(ResourceOwner owner) throws IOException;
}
