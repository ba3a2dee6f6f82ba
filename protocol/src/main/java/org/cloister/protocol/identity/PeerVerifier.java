package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;

/** Verifies the chain of a handshake's peer, or refuses it. TLS's threads call it, also concurrently. */
@FunctionalInterface
public interface PeerVerifier {
    /**
     * Verifies the peer's chain and returns its identity.
     *
     * @param chain the peer's own first, at least one
     * @throws CertificateException if the peer is refused; the text names the failed clause, for the log only
     */
    PeerIdentity verify(List<X509Certificate> chain) throws CertificateException;
}
