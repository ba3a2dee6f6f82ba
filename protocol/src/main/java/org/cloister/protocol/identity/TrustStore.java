package org.cloister.protocol.identity;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;

/** Whose keys a party believes at this moment, and what their owners have taken back. From any thread. */
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

    /** In the place of those before; lists stay, for a key may come back. */
    public synchronized void replaceAnchors(TrustAnchors anchors) {
        state = new Contents(anchors, state.lists);
    }

    /**
     * Takes a list from whoever delivers it.
     *
     * @return the list, in force
     * @throws MalformedException if it is none
     * @throws IdentityRefusedException if it is of nobody believed here, or not newer than the one in force, or has
     *     ended
     */
    public synchronized RevocationList addRevocationList(byte[] der)
            throws MalformedException, IdentityRefusedException {
        return addRevocationList(RevocationList.read(der, state.anchors.all()));
    }

    /** The same for one that was read already. */
    public synchronized RevocationList addRevocationList(RevocationList list) throws IdentityRefusedException {
        state = new Contents(state.anchors, state.lists.with(list, now()));
        return list;
    }

    /** Who shows this chain. */
    public CertifiedIdentity verify(CertificateChain chain, Collection<CertificateRole> roles)
            throws IdentityRefusedException {
        Contents current = state;
        return chain.verify(roles, current.anchors, current.lists, now());
    }

    /** The same without a list, for who has not heard one yet; {@link #require} comes before anything is believed of it. */
    public CertifiedIdentity verifyUnlisted(CertificateChain chain, Collection<CertificateRole> roles)
            throws IdentityRefusedException {
        return chain.verifyUnlisted(roles, state.anchors, now());
    }

    /** Whether who was believed once still is. */
    public void require(CertifiedIdentity identity) throws IdentityRefusedException {
        Contents current = state;
        RevocableSessions.require(identity, current.anchors, current.lists, now());
    }

    /**
     * Whether a host or relay of the site that is known by its key alone is still believed.
     *
     * @throws IdentityRefusedException by {@link IdentityClause#REVOKED} if a list takes the key back, by
     *     {@link IdentityClause#LIST} if a list of one of the site's anchors is missing or has ended
     */
    public void requireKey(VerificationKey key) throws IdentityRefusedException {
        Contents current = state;
        current.lists.requireKey(key, current.anchors.of(CertificateName.SITE), now());
    }

    /** What must end now of what is open, because whoever opened it is believed no more. */
    public <T> List<RevocableSessions.RevokedSession<T>> removeRevoked(RevocableSessions<T> open) {
        Contents current = state;
        return open.removeRevoked(current.anchors, current.lists, now());
    }
}
