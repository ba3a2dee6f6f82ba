package org.cloister.protocol.audit;

import java.util.List;
import java.util.Optional;

/**
 * What a verifier found, and what it could not have found.
 *
 * @param findings at most {@link AuditLogVerifier#MAX_FINDINGS}, in the log's order; none if it holds
 * @param unseen changes that nothing given would show, in sentences
 * @param records read
 * @param newest the last head that the relay signed
 */
public record AuditVerification(
        List<AuditFinding> findings, List<String> unseen, long records, Optional<SignedAuditHead> newest) {
    public AuditVerification {
        findings = List.copyOf(findings);
        unseen = List.copyOf(unseen);
    }

    public boolean isValid() {
        return findings.isEmpty();
    }
}
