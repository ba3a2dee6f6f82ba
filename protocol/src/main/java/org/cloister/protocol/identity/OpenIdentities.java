package org.cloister.protocol.identity;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * What is open in whose name: links, circuits, sessions. Whoever keeps it asks each second what has to end. From any thread.
 *
 * @param <T> equal only to itself
 */
public final class OpenIdentities<T> {
    private final Map<T, Identity> open = new ConcurrentHashMap<>();

    public void opened(T what, Identity by) {
        open.put(what, by);
    }

    public void closed(T what) {
        open.remove(what);
    }

    /** What must end now, and why; it counts as closed. */
    public record Ended<T>(T what, Identity by, IdentityRefused refusal) {}

    public List<Ended<T>> end(Anchors anchors, RevocationLists lists, Instant now) {
        List<Ended<T>> ended = new ArrayList<>();
        for (Map.Entry<T, Identity> each : open.entrySet()) {
            try {
                require(each.getValue(), anchors, lists, now);
            } catch (IdentityRefused e) {
                ended.add(new Ended<>(each.getKey(), each.getValue(), e));
            }
        }
        ended.forEach(each -> open.remove(each.what()));
        return ended;
    }

    /** Whether what was believed once still is. */
    static void require(Identity identity, Anchors anchors, RevocationLists lists, Instant now) throws IdentityRefused {
        Collection<VerificationKey> keys = anchors.of(identity.name().project());
        if (!keys.contains(identity.anchor())) {
            throw new IdentityRefused(
                    Clause.ISSUER,
                    "certificate of " + identity.name(),
                    "an authority of " + identity.name().project() + ": " + keys,
                    identity.anchor().id(),
                    "renew the certificate under an owner that the newest document names");
        }
        lists.require(identity, now);
    }
}
