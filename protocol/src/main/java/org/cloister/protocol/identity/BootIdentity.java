package org.cloister.protocol.identity;

import org.cloister.protocol.dsse.VerificationKey;

/**
 * Identity of a booting VM, from its {@link BootCertificate}: it holds the key, and nothing else is known. Only its
 * evidence proves that the name is its own.
 *
 * @param name the expected one
 * @param role worker or controller
 */
public record BootIdentity(CertificateName name, CertificateRole role, VerificationKey key) implements PeerIdentity {}
