package org.cloister.protocol.identity;

import java.math.BigInteger;
import java.time.Instant;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Certified identity of the other side, as {@link CertificateChain#verify} verified it.
 *
 * @param role the name's
 * @param key the leaf's
 * @param notAfter earliest expiry of the chain's certificates
 * @param anchor the key that issued the chain's last certificate
 * @param serial of that certificate, by which the anchor's list revokes it
 */
public record CertifiedIdentity(
        CertificateName name,
        CertificateRole role,
        VerificationKey key,
        Instant notAfter,
        VerificationKey anchor,
        BigInteger serial)
        implements PeerIdentity {}
