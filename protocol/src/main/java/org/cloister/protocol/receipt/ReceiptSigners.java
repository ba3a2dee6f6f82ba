package org.cloister.protocol.receipt;

import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.HistoricalTrustAnchors;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectHistory;

/** Verifies the chains of a receipt's signers. */
final class ReceiptSigners {
    private final HistoricalTrustAnchors anchors;
    private final ReceiptFindings findings;

    private ReceiptSigners(HistoricalTrustAnchors anchors, ReceiptFindings findings) {
        this.anchors = anchors;
        this.findings = findings;
    }

    static ReceiptSigners of(ProjectHistory project, Collection<VerificationKey> site, ReceiptFindings findings)
            throws IOException {
        return new ReceiptSigners(HistoricalTrustAnchors.of(project, site), findings);
    }

    /**
     * Verifies a signer's chain; empty, with a finding, if it is not valid.
     *
     * @param times the whole chain must be valid at one of them: those that its holder and the receipt's signer claim
     */
    Optional<CertifiedIdentity> verify(
            String subject, List<ReceiptBytes> chain, CertificateRole role, List<Instant> times) {
        try {
            return Optional.of(anchors.verify(CertificateChain.parse(ReceiptBytes.bytes(chain)), role, times));
        } catch (IdentityRefusedException e) {
            findings.wrong(subject, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }
}
