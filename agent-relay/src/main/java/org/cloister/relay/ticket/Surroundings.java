package org.cloister.relay.ticket;

import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.ProjectPapers;

/** What the office asks the relay around it. From any thread. */
public interface Surroundings {
    /** Whom the site serves now, and how much of it. */
    Optional<Approval> approval(String project);

    Beliefs beliefs();

    /**
     * What was delivered of a project.
     *
     * @param anchor whose revocation list goes along, if it is known
     */
    ProjectPapers papers(String project, Optional<VerificationKey> anchor);

    /** Whether circuits to a name find an agent that is attached. */
    boolean isServed(Name name);

    /** The host of a node of Global Slurm, if it is attached. */
    Optional<Identity> host(String node);
}
