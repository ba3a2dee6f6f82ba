package org.cloister.protocol.link;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.Identity;
import org.jspecify.annotations.Nullable;

/** Remembers whom one handshake found. */
public final class Witness implements Trust {
    private final Trust trust;
    private volatile @Nullable Identity found;

    public Witness(Trust trust) {
        this.trust = trust;
    }

    @Override
    public Identity verify(List<X509Certificate> chain) throws CertificateException {
        Identity identity = trust.verify(chain);
        found = identity;
        return identity;
    }

    /** Nobody, before the handshake has succeeded. */
    public Optional<Identity> found() {
        return Optional.ofNullable(found);
    }
}
