package org.cloister.transport.link;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.jspecify.annotations.Nullable;

/** Records the peer that one handshake verified. */
public final class LinkHandshakePeer implements CertifiedPeerVerifier {
    private final CertifiedPeerVerifier trust;
    private volatile @Nullable CertifiedIdentity found;

    public LinkHandshakePeer(CertifiedPeerVerifier trust) {
        this.trust = trust;
    }

    @Override
    public CertifiedIdentity verify(List<X509Certificate> chain) throws CertificateException {
        CertifiedIdentity identity = trust.verify(chain);
        found = identity;
        return identity;
    }

    /** Returns the peer; empty before the handshake has succeeded. */
    public Optional<CertifiedIdentity> found() {
        return Optional.ofNullable(found);
    }
}
