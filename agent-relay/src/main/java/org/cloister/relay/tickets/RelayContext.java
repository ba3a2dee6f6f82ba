package org.cloister.relay.tickets;

import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.ProjectTrustBundle;

/** Gives the ticket code access to the rest of the relay. Thread-safe. */
public interface RelayContext {
    /** Returns the project's approval if it is valid now. */
    Optional<ProjectApproval> approval(String project);

    TrustStore trustStore();

    /**
     * Returns the documents that were delivered for a project.
     *
     * @param anchor issuer of the revocation list to include, if known
     */
    ProjectTrustBundle trustBundle(String project, Optional<VerificationKey> anchor);

    /** Returns whether an attached agent serves circuits to the name. */
    boolean isServed(CertificateName name);

    /** Returns the host of a node of the Global Slurm, if it is attached. */
    Optional<CertifiedIdentity> host(String node);
}
