package org.cloister.protocol.identity;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;

/** Trust anchors and revocation lists that a program currently trusts. Thread-safe. */
public final class TrustStore {
    private final InstantSource clock;
    private volatile Contents state;

    private record Contents(TrustAnchors anchors, RevocationLists lists) {}

    public TrustStore(TrustAnchors anchors, RevocationLists lists, InstantSource clock) {
        this.clock = clock;
        this.state = new Contents(anchors, lists);
    }

    public Instant now() {
        return clock.instant();
    }

    public TrustAnchors anchors() {
        return state.anchors;
    }

    public RevocationLists lists() {
        return state.lists;
    }

    /** Replaces the anchors; the lists stay, because a key may be restored. */
    public synchronized void replaceAnchors(TrustAnchors anchors) {
        state = new Contents(anchors, state.lists);
    }

    /**
     * Adds a list, which may come from anyone.
     *
     * @return the list, in force
     * @throws MalformedException if it is not a list
     * @throws IdentityRefusedException if its issuer is not trusted here, if it is not newer than the one in force, or
     *     if it has expired
     */
    public synchronized RevocationList addRevocationList(byte[] der)
            throws MalformedException, IdentityRefusedException {
        return addRevocationList(RevocationList.read(der, state.anchors.all()));
    }

    /** Adds a list that was already parsed. */
    public synchronized RevocationList addRevocationList(RevocationList list) throws IdentityRefusedException {
        state = new Contents(state.anchors, state.lists.with(list, now()));
        return list;
    }

    /** Verifies a chain and returns the identity that it proves. */
    public CertifiedIdentity verify(CertificateChain chain, Collection<CertificateRole> roles)
            throws IdentityRefusedException {
        Contents current = state;
        return chain.verify(roles, current.anchors, current.lists, now());
    }

    /**
     * Verifies a chain without a revocation list, for a caller that has not received one yet; {@link #require} must
     * follow before the result is trusted.
     */
    public CertifiedIdentity verifyUnlisted(CertificateChain chain, Collection<CertificateRole> roles)
            throws IdentityRefusedException {
        return chain.verifyUnlisted(roles, state.anchors, now());
    }

    /**
     * Verifies a host's expired chain for the renewal of its certificate and nothing else: the result is no identity
     * that may do anything else.
     */
    public CertifiedIdentity verifyForRenewal(CertificateChain chain) throws IdentityRefusedException {
        Contents current = state;
        Instant now = now();
        CertifiedIdentity expired = chain.verifyExpired(Set.of(CertificateRole.HOST), current.anchors, now);
        current.lists.requireForRenewal(expired, current.anchors.of(CertificateName.SITE), now);
        return expired;
    }

    /** Verifies that an identity that was accepted before is still trusted. */
    public void require(CertifiedIdentity identity) throws IdentityRefusedException {
        Contents current = state;
        RevocableSessions.require(identity, current.anchors, current.lists, now());
    }

    /**
     * Verifies that a host or relay of the site that is known by its key alone is still trusted.
     *
     * @throws IdentityRefusedException by {@link IdentityClause#REVOKED} if a list revokes the key, by
     *     {@link IdentityClause#LIST} if a list of one of the site's anchors is missing or has expired
     */
    public void requireKey(VerificationKey key) throws IdentityRefusedException {
        Contents current = state;
        current.lists.requireKey(key, current.anchors.of(CertificateName.SITE), now());
    }

    /** Removes and returns the open sessions that must end because their peers are no longer trusted. */
    public <T> List<RevocableSessions.RevokedSession<T>> removeRevoked(RevocableSessions<T> open) {
        Contents current = state;
        return open.removeRevoked(current.anchors, current.lists, now());
    }
}
