package org.cloister.protocol.identity;

import org.cloister.protocol.dsse.VerificationKey;

/**
 * A VM that boots, as its {@link BootCertificate} says: it holds the key, and that is all that is known. Whether the name is
 * its own, its evidence and nothing else tells.
 *
 * @param name the one that was asked for
 * @param role worker or controller
 */
public record BootIdentity(CertificateName name, CertificateRole role, VerificationKey key) implements PeerIdentity {}
