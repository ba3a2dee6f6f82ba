package org.cloister.protocol.link;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import org.cloister.protocol.identity.Shown;

/** Decides who shows a chain, or that nobody is taken who does. Called on TLS's threads, also at once. */
@FunctionalInterface
public interface Acceptance {
    /**
     * @param chain the peer's own first, at least one
     * @throws CertificateException it is nobody's; the text says which clause failed, for the log only
     */
    Shown verify(List<X509Certificate> chain) throws CertificateException;
}
