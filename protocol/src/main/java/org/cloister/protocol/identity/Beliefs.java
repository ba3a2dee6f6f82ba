package org.cloister.protocol.identity;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;

/** Whose keys a party believes at this moment, and what their owners have taken back. From any thread. */
public final class Beliefs {
    private final InstantSource clock;
    private volatile State state;

    private record State(Anchors anchors, RevocationLists lists) {}

    public Beliefs(Anchors anchors, RevocationLists lists, InstantSource clock) {
        this.clock = clock;
        this.state = new State(anchors, lists);
    }

    public Instant now() {
        return clock.instant();
    }

    public Anchors anchors() {
        return state.anchors;
    }

    public RevocationLists lists() {
        return state.lists;
    }

    /** In the place of those before; lists stay, for a key may come back. */
    public synchronized void believe(Anchors anchors) {
        state = new State(anchors, state.lists);
    }

    /**
     * Takes a list from whoever delivers it.
     *
     * @return the list, in force
     * @throws MalformedException if it is none
     * @throws IdentityRefused if it is of nobody believed here, or not newer than the one in force, or has ended
     */
    public synchronized RevocationList take(byte[] der) throws MalformedException, IdentityRefused {
        return take(RevocationList.read(der, state.anchors.all()));
    }

    /** The same for one that was read already. */
    public synchronized RevocationList take(RevocationList list) throws IdentityRefused {
        state = new State(state.anchors, state.lists.with(list, now()));
        return list;
    }

    /** Who shows this chain. */
    public Identity verify(Chain chain, Collection<Role> roles) throws IdentityRefused {
        State current = state;
        return chain.verify(roles, current.anchors, current.lists, now());
    }

    /** The same without a list, for who has not heard one yet; {@link #require} comes before anything is believed of it. */
    public Identity verifyUnlisted(Chain chain, Collection<Role> roles) throws IdentityRefused {
        return chain.verifyUnlisted(roles, state.anchors, now());
    }

    /** Whether who was believed once still is. */
    public void require(Identity identity) throws IdentityRefused {
        State current = state;
        OpenIdentities.require(identity, current.anchors, current.lists, now());
    }

    /**
     * Whether a host or relay of the site that is known by its key alone is still believed.
     *
     * @throws IdentityRefused by {@link Clause#REVOKED} if a list takes the key back, by {@link Clause#LIST} if a list of one of
     *     the site's anchors is missing or has ended
     */
    public void requireKey(VerificationKey key) throws IdentityRefused {
        State current = state;
        current.lists.requireKey(key, current.anchors.of(Name.SITE), now());
    }

    /** What must end now of what is open, because whoever opened it is believed no more. */
    public <T> List<OpenIdentities.Ended<T>> end(OpenIdentities<T> open) {
        State current = state;
        return open.end(current.anchors, current.lists, now());
    }
}
