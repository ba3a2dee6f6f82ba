package org.cloister.protocol.identity;

import org.cloister.protocol.dsse.VerificationKey;

/**
 * Identity of the peer that shows a chain in a handshake: certified by the site or a project, or a booting VM that no
 * authority has certified yet. They are different types, so that code for the one never accepts the other.
 */
public sealed interface PeerIdentity permits CertifiedIdentity, BootIdentity {
    CertificateName name();

    /** Returns the name's role. */
    CertificateRole role();

    /** Returns the leaf's key, whose private half the peer holds. */
    VerificationKey key();
}
