package org.cloister.protocol.link;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import org.cloister.protocol.identity.Name;

/** Decides whose chain of certificates this is. Called on TLS's threads, also at once. */
@FunctionalInterface
public interface Trust {
    /**
     * @param chain the peer's own first, at least one
     * @throws CertificateException it is nobody's; the text says which clause failed, for the log only
     */
    Name verify(List<X509Certificate> chain) throws CertificateException;

    /** The same, and nobody but {@code wanted}. */
    default Trust only(Name wanted) {
        return chain -> {
            Name name = verify(chain);
            if (!name.equals(wanted)) {
                throw new CertificateException("certificate: want " + wanted + ", have " + name);
            }
            return name;
        };
    }
}
