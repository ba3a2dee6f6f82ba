package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;

/** Decides who shows a chain, or that nobody is taken who does. Called on TLS's threads, also at once. */
@FunctionalInterface
public interface PeerVerifier {
    /**
     * @param chain the peer's own first, at least one
     * @throws CertificateException it is nobody's; the text says which clause failed, for the log only
     */
    PeerIdentity verify(List<X509Certificate> chain) throws CertificateException;
}
