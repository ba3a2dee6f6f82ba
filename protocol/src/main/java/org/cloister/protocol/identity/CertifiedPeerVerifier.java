package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Decides whose chain of certificates this is: somebody's who was certified. */
@FunctionalInterface
public interface CertifiedPeerVerifier extends PeerVerifier {
    @Override
    CertifiedIdentity verify(List<X509Certificate> chain) throws CertificateException;

    /** Whoever is believed and has one of these roles. */
    static CertifiedPeerVerifier forRoles(TrustStore beliefs, Set<CertificateRole> roles) {
        return chain -> {
            try {
                return beliefs.verify(CertificateChain.of(chain), roles);
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /** Relays. They bring the list with them that could deny them, so it is asked after the handshake: {@code AgentLink}. */
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
     * Who dials a relay. The site's desk comes without a list being asked, for it brings the site's: without it a relay
     * whose list has ended could never have another one.
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

    /** The parties of circuits. */
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

    /** The same, and nobody but {@code wanted}. */
    default CertifiedPeerVerifier only(CertificateName wanted) {
        return among(Set.of(wanted));
    }

    /** The same, and nobody but these. */
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
