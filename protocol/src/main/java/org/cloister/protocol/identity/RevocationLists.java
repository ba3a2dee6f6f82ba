package org.cloister.protocol.identity;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.cloister.protocol.dsse.VerificationKey;

/** The newest list of each anchor. Without one that holds, nothing that the anchor issued is believed. Immutable. */
public final class RevocationLists {
    private static final RevocationLists NONE = new RevocationLists(Map.of());

    private final Map<VerificationKey, RevocationList> newest;

    private RevocationLists(Map<VerificationKey, RevocationList> newest) {
        this.newest = Map.copyOf(newest);
    }

    public static RevocationLists none() {
        return NONE;
    }

    public Collection<RevocationList> all() {
        return newest.values();
    }

    /**
     * These with one more, or the same if it is here already.
     *
     * @throws IdentityRefusedException if a newer one of its anchor is here, or another one of its number, or if it
     *     does not hold now
     */
    public RevocationLists with(RevocationList list, Instant now) throws IdentityRefusedException {
        requireTime(list, now);
        return kept(list);
    }

    /** The same for a list that was taken once and kept: it may have ended, and its number still counts. */
    public RevocationLists kept(RevocationList list) throws IdentityRefusedException {
        RevocationList held = newest.get(list.anchor());
        if (held != null) {
            int order = list.number().compareTo(held.number());
            if (order == 0 && list.equals(held)) {
                return this;
            }
            if (order <= 0) {
                throw new IdentityRefusedException(
                        order == 0 ? IdentityClause.FORK : IdentityClause.NUMBER,
                        "revocation list of " + list.anchor(),
                        "a number above " + held.number(),
                        list.number().toString(),
                        "deliver the newest one");
            }
        }
        Map<VerificationKey, RevocationList> more = new HashMap<>(newest);
        more.put(list.anchor(), list);
        return new RevocationLists(more);
    }

    /** Whether the identity still holds: not expired, not revoked, and its anchor's list here and valid. */
    public void require(CertifiedIdentity identity, Instant now) throws IdentityRefusedException {
        String subject = "certificate of " + identity.name();
        if (now.isAfter(identity.notAfter())) {
            throw new IdentityRefusedException(
                    IdentityClause.TIME, subject, "a time to " + identity.notAfter(), now.toString(), "renew it");
        }
        RevocationList list = newest.get(identity.anchor());
        if (list == null) {
            throw new IdentityRefusedException(
                    IdentityClause.LIST,
                    subject,
                    "a revocation list of " + identity.anchor(),
                    "none",
                    "deliver its newest list");
        }
        requireTime(list, now);
        if (list.serials().contains(identity.serial())) {
            throw new IdentityRefusedException(
                    IdentityClause.REVOKED,
                    subject,
                    "a certificate that is not revoked",
                    identity.serial().toString(16) + " in list " + list.number(),
                    "enrol it anew, or have an owner certify it anew");
        }
    }

    /**
     * Whether a host or relay that is known by its key alone still holds: no list takes the key back, and the list of each of the
     * anchors is here and valid, for any of them may be the one that would name it. What an older list said stays said.
     *
     * @param anchors the site's
     */
    void requireKey(VerificationKey key, Collection<VerificationKey> anchors, Instant now)
            throws IdentityRefusedException {
        String subject = "key " + key.id();
        for (VerificationKey anchor : anchors) {
            RevocationList list = newest.get(anchor);
            if (list != null && list.revokes(key)) {
                throw new IdentityRefusedException(
                        IdentityClause.REVOKED,
                        subject,
                        "a key that is not revoked",
                        "one in list " + list.number() + " of " + anchor,
                        "enrol who has it anew, with another key");
            }
        }
        for (VerificationKey anchor : anchors) {
            RevocationList list = newest.get(anchor);
            if (list == null) {
                throw new IdentityRefusedException(
                        IdentityClause.LIST,
                        subject,
                        "a revocation list of " + anchor,
                        "none",
                        "deliver its newest list");
            }
            requireTime(list, now);
        }
    }

    private static void requireTime(RevocationList list, Instant now) throws IdentityRefusedException {
        if (now.isBefore(list.thisUpdate()) || now.isAfter(list.nextUpdate())) {
            throw new IdentityRefusedException(
                    IdentityClause.LIST,
                    "revocation list " + list.number() + " of " + list.anchor(),
                    "a time from " + list.thisUpdate() + " to " + list.nextUpdate(),
                    now.toString(),
                    "deliver its newest list");
        }
    }
}
