package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.util.Optional;

/**
 * Verifies the other end of a circuit with a booting VM; docs/protocol.md, sections 3 and 11. It is no
 * {@link CertifiedPeerVerifier} and cannot be passed where one is required.
 */
public final class BootPeerVerifier {
    private final Optional<CertifiedPeerVerifier> certified;

    private BootPeerVerifier(Optional<CertifiedPeerVerifier> certified) {
        this.certified = certified;
    }

    /** Accepts a booting VM only. */
    public static BootPeerVerifier forBootingVm() {
        return new BootPeerVerifier(Optional.empty());
    }

    /**
     * Accepts a booting VM, or a VM that was certified since and reconnects.
     *
     * @param certified of its project
     */
    public static BootPeerVerifier forBootingVmOr(CertifiedPeerVerifier certified) {
        return new BootPeerVerifier(Optional.of(certified));
    }

    /** Returns a verifier that accepts only {@code name}. */
    public PeerVerifier only(CertificateName name) {
        return chain -> {
            if (certified.isPresent() && !BootCertificate.isClaimed(chain)) {
                return certified.get().only(name).verify(chain);
            }
            try {
                return BootCertificate.verify(chain, name);
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }
}
