package org.cloister.transport.circuit;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.PeerIdentity;
import org.cloister.protocol.identity.PeerVerifier;
import org.jspecify.annotations.Nullable;

/** Records the peer that a circuit's handshake verified. */
final class CircuitHandshakePeer implements PeerVerifier {
    private final PeerVerifier trust;
    private volatile @Nullable PeerIdentity found;

    CircuitHandshakePeer(PeerVerifier trust) {
        this.trust = trust;
    }

    @Override
    public PeerIdentity verify(List<X509Certificate> chain) throws CertificateException {
        PeerIdentity peer = trust.verify(chain);
        found = peer;
        return peer;
    }

    /** Returns the peer; empty before the handshake has succeeded. */
    Optional<PeerIdentity> found() {
        return Optional.ofNullable(found);
    }
}
