package org.cloister.relay.links;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.transport.link.LinkHandshakePeer;

/**
 * Records the agent that one handshake verified. A host whose certificate has expired is accepted too, and recorded as
 * one that may renew it and nothing else; a machine that joins the site may ask for its first one and nothing else.
 */
final class AgentHandshakePeer implements CertifiedPeerVerifier {
    private final LinkHandshakePeer valid;
    private final LinkHandshakePeer expired;

    AgentHandshakePeer(TrustStore trustStore) {
        this.valid = new LinkHandshakePeer(CertifiedPeerVerifier.forAgents(trustStore));
        this.expired = new LinkHandshakePeer(CertifiedPeerVerifier.forRenewal(trustStore));
    }

    @Override
    public CertifiedIdentity verify(List<X509Certificate> chain) throws CertificateException {
        try {
            return valid.verify(chain);
        } catch (CertificateException e) {
            if (!isBy(IdentityClause.TIME, e)) {
                throw e;
            }
            return verifyExpired(chain, e);
        }
    }

    private CertifiedIdentity verifyExpired(List<X509Certificate> chain, CertificateException refusal)
            throws CertificateException {
        try {
            return expired.verify(chain);
        } catch (CertificateException e) {
            // Of another role: it expired, and that is what its holder can mend.
            throw isBy(IdentityClause.ROLE, e) ? refusal : e;
        }
    }

    private static boolean isBy(IdentityClause clause, CertificateException e) {
        return e.getCause() instanceof IdentityRefusedException refusal && refusal.clause() == clause;
    }

    /** Returns the peer; empty before the handshake has succeeded. */
    Optional<CertifiedIdentity> found() {
        return valid.found().or(expired::found);
    }

    /** Returns whether the peer has an expired certificate, or its token's, and may only ask for a valid one. */
    boolean isForRenewal() {
        return valid.found()
                .map(identity -> identity.role() == CertificateRole.JOIN)
                .orElse(true);
    }
}
