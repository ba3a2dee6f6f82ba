package org.cloister.protocol.identity;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Verifies that a chain of certificates belongs to a certified peer. */
@FunctionalInterface
public interface CertifiedPeerVerifier extends PeerVerifier {
    /** Roles whose holders dial relays; of a machine that joins a relay accepts its enrolment alone. */
    Set<CertificateRole> AGENTS = Set.of(CertificateRole.HOST, CertificateRole.DEVICE, CertificateRole.JOIN);

    @Override
    CertifiedIdentity verify(List<X509Certificate> chain) throws CertificateException;

    /** Accepts trusted peers with one of these roles. */
    static CertifiedPeerVerifier forRoles(TrustStore trustStore, Set<CertificateRole> roles) {
        return chain -> {
            try {
                return trustStore.verify(CertificateChain.of(chain), roles);
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /**
     * Accepts relays. The relay itself sends the list that could revoke it, so {@code AgentLink} checks the list after
     * the handshake.
     */
    static CertifiedPeerVerifier forRelays(TrustStore trustStore) {
        return chain -> {
            try {
                return trustStore.verifyUnlisted(CertificateChain.of(chain), Set.of(CertificateRole.RELAY));
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /**
     * Accepts agents that dial a relay. The registration authority is accepted without a revocation list, because it
     * delivers the site's: otherwise a relay whose list has expired could never receive another.
     */
    static CertifiedPeerVerifier forAgents(TrustStore trustStore) {
        return chain -> {
            try {
                CertificateChain presented = CertificateChain.of(chain);
                return presented.claimed().role().equals(CertificateRole.DESK.toString())
                        ? trustStore.verifyUnlisted(presented, Set.of(CertificateRole.DESK))
                        : trustStore.verify(presented, AGENTS);
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /** Accepts hosts whose certificate has expired, so that they can renew it; the caller permits nothing else. */
    static CertifiedPeerVerifier forRenewal(TrustStore trustStore) {
        return chain -> {
            try {
                return trustStore.verifyForRenewal(CertificateChain.of(chain));
            } catch (IdentityRefusedException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /** Accepts the ends of circuits. */
    static CertifiedPeerVerifier forCircuitEnds(TrustStore trustStore) {
        return forRoles(
                trustStore,
                Set.of(
                        CertificateRole.OWNER,
                        CertificateRole.OPENER,
                        CertificateRole.MEMBER,
                        CertificateRole.EXPORTER,
                        CertificateRole.CONTROLLER,
                        CertificateRole.WORKER));
    }

    /** Returns a verifier that accepts only {@code name}. */
    default CertifiedPeerVerifier only(CertificateName name) {
        return among(Set.of(name));
    }

    /** Returns a verifier that accepts only these names. */
    default CertifiedPeerVerifier among(Set<CertificateName> name) {
        return chain -> {
            CertifiedIdentity found = verify(chain);
            if (!name.contains(found.name())) {
                String names =
                        name.stream().map(CertificateName::toString).sorted().collect(Collectors.joining(" or "));
                throw new CertificateException("certificate: want " + names + ", have " + found.name());
            }
            return found;
        };
    }
}
