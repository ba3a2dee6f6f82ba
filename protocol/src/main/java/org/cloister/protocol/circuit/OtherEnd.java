package org.cloister.protocol.circuit;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.Shown;
import org.cloister.protocol.link.Acceptance;
import org.jspecify.annotations.Nullable;

/** Remembers whom a circuit's handshake found. */
final class OtherEnd implements Acceptance {
    private final Acceptance trust;
    private volatile @Nullable Shown found;

    OtherEnd(Acceptance trust) {
        this.trust = trust;
    }

    @Override
    public Shown verify(List<X509Certificate> chain) throws CertificateException {
        Shown shown = trust.verify(chain);
        found = shown;
        return shown;
    }

    /** Nobody, before the handshake has succeeded. */
    Optional<Shown> found() {
        return Optional.ofNullable(found);
    }
}
