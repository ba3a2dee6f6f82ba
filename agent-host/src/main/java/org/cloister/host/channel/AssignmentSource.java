package org.cloister.host.channel;

import java.io.IOException;
import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.AssignmentMessage;

/** What VMs were made for, as it was written down before they ran. */
@FunctionalInterface
public interface AssignmentSource {
    /**
     * May block; one call at a time.
     *
     * @return empty of a VM of which that was not written down
     */
    Optional<AssignmentMessage.Assigned> of(ResourceOwner owner) throws IOException;
}
