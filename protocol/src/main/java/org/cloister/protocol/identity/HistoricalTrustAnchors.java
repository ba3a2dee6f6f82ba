package org.cloister.protocol.identity;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.cloister.protocol.dsse.VerificationKey;
import org.jspecify.annotations.Nullable;

/**
 * Verifies chains of signatures that outlast their signers' certificates, while owners change: a chain may end at an
 * owner of any of the project's documents, and, since certificates live for a day, must have been valid at one of the
 * times that the signed object names. Revocations are not checked.
 */
public final class HistoricalTrustAnchors {
    /** Anchors of each document, the newest document first. */
    private final List<TrustAnchors> anchors;

    private HistoricalTrustAnchors(List<TrustAnchors> anchors) {
        this.anchors = List.copyOf(anchors);
    }

    /**
     * Collects the anchors of all the project's documents.
     *
     * @param site keys of the site's CA, of all relevant times
     */
    public static HistoricalTrustAnchors of(ProjectHistory project, Collection<VerificationKey> site)
            throws IOException {
        List<TrustAnchors> anchors = new ArrayList<>();
        List<byte[]> documents = project.envelopes();
        for (int number = documents.size(); number > 0; number--) {
            anchors.add(
                    TrustAnchors.none().withSite(site).withProject(ProjectHistory.of(documents.subList(0, number))));
        }
        return new HistoricalTrustAnchors(anchors);
    }

    /**
     * Verifies a chain.
     *
     * @param times the whole chain must be valid at one of them; at least one
     * @throws IdentityRefusedException with the reason by the first document at the last time
     */
    public CertifiedIdentity verify(CertificateChain chain, CertificateRole role, List<Instant> times)
            throws IdentityRefusedException {
        @Nullable IdentityRefusedException refusal = null;
        for (TrustAnchors each : anchors) {
            for (Instant time : times) {
                try {
                    return chain.verifyUnlisted(List.of(role), each, time);
                } catch (IdentityRefusedException e) {
                    refusal = e;
                }
            }
        }
        if (refusal == null) {
            throw new IllegalArgumentException("want a time at least, have none");
        }
        throw refusal;
    }
}
