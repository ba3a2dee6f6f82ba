package org.cloister.protocol.identity;

import org.cloister.protocol.dsse.VerificationKey;

/**
 * Who shows a chain in a handshake: somebody whom the site or a project has certified, or a VM that boots and has nobody's
 * word yet. They are different types, so that what is for the one is never given to the other.
 */
public sealed interface PeerIdentity permits CertifiedIdentity, BootIdentity {
    CertificateName name();

    /** The name's. */
    CertificateRole role();

    /** The leaf's; who shows it holds the private half. */
    VerificationKey key();
}
