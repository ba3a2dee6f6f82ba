package org.cloister.protocol.link;

import java.security.cert.CertificateException;
import java.util.Optional;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;

/**
 * Who is taken at the other end of a circuit with a VM that boots; docs/protocol.md, sections 3 and 11. It is no
 * {@link Trust}, and where one is asked for it cannot be given.
 */
public final class BootTrust {
    private final Optional<Trust> certified;

    private BootTrust(Optional<Trust> certified) {
        this.certified = certified;
    }

    /** A VM that boots, and nobody else. */
    public static BootTrust booting() {
        return new BootTrust(Optional.empty());
    }

    /**
     * A VM that boots, or that was certified since and comes back.
     *
     * @param certified of its project
     */
    public static BootTrust bootingOr(Trust certified) {
        return new BootTrust(Optional.of(certified));
    }

    /** The same, and nobody but {@code wanted}. */
    public Acceptance only(Name wanted) {
        return chain -> {
            if (certified.isPresent() && !BootCertificate.isClaimed(chain)) {
                return certified.get().only(wanted).verify(chain);
            }
            try {
                return BootCertificate.verify(chain, wanted);
            } catch (IdentityRefused e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }
}
