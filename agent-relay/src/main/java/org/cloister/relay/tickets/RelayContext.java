package org.cloister.relay.tickets;

import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.ProjectTrustBundle;

/** What the office asks the relay around it. From any thread. */
public interface RelayContext {
    /** Whom the site serves now, and how much of it. */
    Optional<ProjectApproval> approval(String project);

    TrustStore trustStore();

    /**
     * What was delivered of a project.
     *
     * @param anchor whose revocation list goes along, if it is known
     */
    ProjectTrustBundle trustBundle(String project, Optional<VerificationKey> anchor);

    /** Whether circuits to a name find an agent that is attached. */
    boolean isServed(CertificateName name);

    /** The host of a node of Global Slurm, if it is attached. */
    Optional<CertifiedIdentity> host(String node);
}
