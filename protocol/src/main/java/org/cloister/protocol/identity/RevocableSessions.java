package org.cloister.protocol.identity;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Open links, circuits and sessions with the identities of their peers. The holder checks each second which of them
 * must end. Thread-safe.
 *
 * @param <T> equal only to itself
 */
public final class RevocableSessions<T> {
    private final Map<T, CertifiedIdentity> open = new ConcurrentHashMap<>();

    public void add(T what, CertifiedIdentity by) {
        open.put(what, by);
    }

    public void remove(T what) {
        open.remove(what);
    }

    /** Session that must end now, with the reason; it no longer counts as open. */
    public record RevokedSession<T>(T what, CertifiedIdentity by, IdentityRefusedException refusal) {}

    public List<RevokedSession<T>> removeRevoked(TrustAnchors anchors, RevocationLists lists, Instant now) {
        List<RevokedSession<T>> ended = new ArrayList<>();
        for (Map.Entry<T, CertifiedIdentity> each : open.entrySet()) {
            try {
                require(each.getValue(), anchors, lists, now);
            } catch (IdentityRefusedException e) {
                ended.add(new RevokedSession<>(each.getKey(), each.getValue(), e));
            }
        }
        ended.forEach(each -> open.remove(each.what()));
        return ended;
    }

    /** Verifies that an identity that was accepted before is still trusted. */
    static void require(CertifiedIdentity identity, TrustAnchors anchors, RevocationLists lists, Instant now)
            throws IdentityRefusedException {
        Collection<VerificationKey> keys = anchors.of(identity.name().project());
        if (!keys.contains(identity.anchor())) {
            throw new IdentityRefusedException(
                    IdentityClause.ISSUER,
                    "certificate of " + identity.name(),
                    "an authority of " + identity.name().project() + ": " + keys,
                    identity.anchor().id(),
                    "renew the certificate under an owner that the newest document names");
        }
        lists.require(identity, now);
    }
}
