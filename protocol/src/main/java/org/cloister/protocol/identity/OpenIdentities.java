package org.cloister.protocol.identity;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * What is open in whose name: links, circuits, sessions. After each change of lists or anchors, and whenever
 * {@link #nextLook} has come, whoever keeps it asks what has to end. Not for several threads.
 *
 * @param <T> equal only to itself
 */
public final class OpenIdentities<T> {
    private final Map<T, Identity> open = new HashMap<>();

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
                requireAnchor(each.getValue(), anchors.of(each.getValue().name().project()));
                lists.require(each.getValue(), now);
            } catch (IdentityRefused e) {
                ended.add(new Ended<>(each.getKey(), each.getValue(), e));
            }
        }
        ended.forEach(each -> open.remove(each.what()));
        return ended;
    }

    /** When the first certificate or list expires of what is open; {@link Instant#MAX} where nothing is. */
    public Instant nextLook(RevocationLists lists) {
        Instant next = Instant.MAX;
        for (Identity each : open.values()) {
            next = earlier(next, each.until());
            for (RevocationList list : lists.all()) {
                next = list.anchor().equals(each.anchor()) ? earlier(next, list.until()) : next;
            }
        }
        return next;
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    private static void requireAnchor(Identity identity, Collection<VerificationKey> keys) throws IdentityRefused {
        if (!keys.contains(identity.anchor())) {
            throw new IdentityRefused(
                    Clause.ISSUER,
                    "certificate of " + identity.name(),
                    "an authority of " + identity.name().project() + ": " + keys,
                    identity.anchor().id(),
                    "renew the certificate under an owner that the newest document names");
        }
    }
}
