package org.cloister.protocol.identity;

import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Newest revocation list of each anchor. Without a valid list, nothing that the anchor issued is trusted. Immutable.
 */
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
     * Returns these lists with one more, or this object if the list is already present.
     *
     * @throws IdentityRefusedException if a newer list of its anchor is present, or another one of its number, or if it
     *     is not valid now
     */
    public RevocationLists with(RevocationList list, Instant now) throws IdentityRefusedException {
        requireTime(list, now);
        return kept(list);
    }

    /**
     * Returns these lists with one that was accepted and stored before: it may have expired, and its number still
     * counts.
     */
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

    /** Verifies that the identity has not expired, is not revoked, and has a valid list of its anchor. */
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
     * Verifies that the key of a host or relay is not revoked: no list revokes the key, and a valid list of each of the
     * anchors is present, because any of them could revoke it. A revocation in an expired list still applies.
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

    /** Verifies that neither an expired certificate of a host nor its key is revoked; lists keep keys for longer. */
    void requireForRenewal(CertifiedIdentity expired, Collection<VerificationKey> anchors, Instant now)
            throws IdentityRefusedException {
        requireKey(expired.key(), anchors, now);
        RevocationList list = newest.get(expired.anchor());
        if (list == null || list.serials().contains(expired.serial())) {
            throw new IdentityRefusedException(
                    IdentityClause.REVOKED,
                    "renewal of the certificate of " + expired.name(),
                    "a certificate that is not revoked",
                    expired.serial().toString(16),
                    "enrol it anew");
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
