package org.cloister.relay.ticket;

import java.util.Optional;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Identity;

/** What the office asks the relay around it. From any thread. */
public interface Surroundings {
    /** Whom the site serves now, and how much of it. */
    Optional<Approval> approval(String project);

    Beliefs beliefs();

    /** The host of a node of Global Slurm, if it is attached. */
    Optional<Identity> host(String node);
}
