package org.cloister.protocol.identity;

import java.math.BigInteger;
import java.time.Instant;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Who the other side is, as {@link CertificateChain#verify} found it.
 *
 * @param role the name's
 * @param key the leaf's
 * @param notAfter when the first of the chain's certificates expires
 * @param anchor the key that issued the chain's last certificate
 * @param serial of that certificate, by which the anchor's list revokes
 */
public record CertifiedIdentity(
        CertificateName name,
        CertificateRole role,
        VerificationKey key,
        Instant notAfter,
        VerificationKey anchor,
        BigInteger serial)
        implements PeerIdentity {}
