package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Verifies that a chain of certificates belongs to a certified peer. */
@FunctionalInterface
public interface CertifiedPeerVerifier extends PeerVerifier {
    @Override
    CertifiedIdentity verify(List<X509Certificate> chain) throws CertificateException;

    /** Accepts trusted peers with one of these roles. */
    static CertifiedPeerVerifier forRoles(TrustStore beliefs, Set<CertificateRole> roles) {
        return chain -> {
            try {
                return beliefs.verify(CertificateChain.of(chain), roles);
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /**
     * Accepts relays. The relay itself sends the list that could revoke it, so {@code AgentLink} checks the list after
     * the handshake.
     */
    static CertifiedPeerVerifier forRelays(TrustStore beliefs) {
        return chain -> {
            try {
                return beliefs.verifyUnlisted(CertificateChain.of(chain), Set.of(CertificateRole.RELAY));
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /**
     * Accepts agents that dial a relay. The registration authority is accepted without a revocation list, because it
     * delivers the site's: otherwise a relay whose list has expired could never receive another.
     */
    static CertifiedPeerVerifier forAgents(TrustStore beliefs) {
        return chain -> {
            try {
                CertificateChain shown = CertificateChain.of(chain);
                return shown.claimed().role().equals(CertificateRole.DESK.toString())
                        ? beliefs.verifyUnlisted(shown, Set.of(CertificateRole.DESK))
                        : beliefs.verify(shown, Set.of(CertificateRole.HOST, CertificateRole.DEVICE));
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /** Accepts the ends of circuits. */
    static CertifiedPeerVerifier forCircuitEnds(TrustStore beliefs) {
        return forRoles(
                beliefs,
                Set.of(
                        CertificateRole.OWNER,
                        CertificateRole.OPENER,
                        CertificateRole.MEMBER,
                        CertificateRole.EXPORTER,
                        CertificateRole.CONTROLLER,
                        CertificateRole.WORKER));
    }

    /** Returns a verifier that accepts only {@code wanted}. */
    default CertifiedPeerVerifier only(CertificateName wanted) {
        return among(Set.of(wanted));
    }

    /** Returns a verifier that accepts only these names. */
    default CertifiedPeerVerifier among(Set<CertificateName> wanted) {
        return chain -> {
            CertifiedIdentity found = verify(chain);
            if (!wanted.contains(found.name())) {
                String names =
                        wanted.stream().map(CertificateName::toString).sorted().collect(Collectors.joining(" or "));
                throw new CertificateException("certificate: want " + names + ", have " + found.name());
            }
            return found;
        };
    }
}
