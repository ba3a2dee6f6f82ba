package org.cloister.protocol.identity;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.cloister.protocol.dsse.VerificationKey;

/** Keys that are trusted without a certificate: the site CA's, and each project's owners'. Immutable. */
public final class TrustAnchors {
    private static final TrustAnchors NONE = new TrustAnchors(Map.of());

    private final Map<String, Set<VerificationKey>> keys;

    private TrustAnchors(Map<String, Set<VerificationKey>> keys) {
        this.keys = Map.copyOf(keys);
    }

    public static TrustAnchors none() {
        return NONE;
    }

    /**
     * Returns anchors with the site's keys, which replace the earlier ones.
     *
     * @param keys of the site's authority; two while one replaces the other
     */
    public TrustAnchors withSite(Collection<VerificationKey> keys) {
        return with(CertificateName.SITE, keys);
    }

    /** Returns anchors with the project's owners from its newest document, which replace the earlier ones. */
    public TrustAnchors withProject(ProjectHistory project) {
        return with(project.id(), project.ownerKeys());
    }

    public TrustAnchors withoutProject(String project) {
        Map<String, Set<VerificationKey>> rest = new TreeMap<>(keys);
        rest.remove(project);
        return new TrustAnchors(rest);
    }

    /**
     * Returns the trusted keys of a project or of the site.
     *
     * @param scope a project's id or {@link CertificateName#SITE}
     */
    public Collection<VerificationKey> of(String scope) {
        return keys.getOrDefault(scope, Set.of());
    }

    Collection<VerificationKey> all() {
        return keys.values().stream().flatMap(Collection::stream).toList();
    }

    private TrustAnchors with(String scope, Collection<VerificationKey> more) {
        Map<String, Set<VerificationKey>> all = new TreeMap<>(keys);
        all.put(scope, Set.copyOf(new LinkedHashSet<>(List.copyOf(more))));
        return new TrustAnchors(all);
    }
}
