package org.cloister.protocol.identity;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.cloister.protocol.dsse.VerificationKey;
import org.jspecify.annotations.Nullable;

/**
 * For what was signed and stays, while owners come and go: a chain may end in an owner of any of the project's documents; and
 * since certificates live for a day it needs to have held at some time that the signed thing names. Nothing is said of
 * revocations.
 */
public final class HistoricalTrustAnchors {
    /** Of the newest document first. */
    private final List<TrustAnchors> anchors;

    private HistoricalTrustAnchors(List<TrustAnchors> anchors) {
        this.anchors = List.copyOf(anchors);
    }

    /** @param site keys of the site's CA, of all times that matter */
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
     * @param times at one of which the whole chain must hold, one at least
     * @throws IdentityRefusedException why it does not by the first document at the last time
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
