package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.util.Optional;

/**
 * Who is taken at the other end of a circuit with a VM that boots; docs/protocol.md, sections 3 and 11. It is no
 * {@link CertifiedPeerVerifier}, and where one is asked for it cannot be given.
 */
public final class BootPeerVerifier {
    private final Optional<CertifiedPeerVerifier> certified;

    private BootPeerVerifier(Optional<CertifiedPeerVerifier> certified) {
        this.certified = certified;
    }

    /** A VM that boots, and nobody else. */
    public static BootPeerVerifier forBootingVm() {
        return new BootPeerVerifier(Optional.empty());
    }

    /**
     * A VM that boots, or that was certified since and comes back.
     *
     * @param certified of its project
     */
    public static BootPeerVerifier forBootingVmOr(CertifiedPeerVerifier certified) {
        return new BootPeerVerifier(Optional.of(certified));
    }

    /** The same, and nobody but {@code wanted}. */
    public PeerVerifier only(CertificateName wanted) {
        return chain -> {
            if (certified.isPresent() && !BootCertificate.isClaimed(chain)) {
                return certified.get().only(wanted).verify(chain);
            }
            try {
                return BootCertificate.verify(chain, wanted);
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }
}
