package org.cloister.protocol.identity;

import org.cloister.protocol.dsse.VerificationKey;

/**
 * Who shows a chain in a handshake: somebody whom the site or a project has certified, or a VM that boots and has nobody's
 * word yet. They are different types, so that what is for the one is never given to the other.
 */
public sealed interface Shown permits Identity, BootIdentity {
    Name name();

    /** The name's. */
    Role role();

    /** The leaf's; who shows it holds the private half. */
    VerificationKey key();
}
