package org.cloister.relay.tickets;

import java.util.Optional;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;

/** Finds attached agents by the names that tickets and the Global Slurm use. Thread-safe. */
public interface AttachedAgents {
    /** Returns whether an attached agent serves circuits to the name. */
    boolean isServed(CertificateName name);

    /** Returns the host of a node of the Global Slurm, if it is attached. */
    Optional<CertifiedIdentity> host(String node);
}
