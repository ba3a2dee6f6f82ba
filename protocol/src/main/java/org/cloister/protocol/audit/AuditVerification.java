package org.cloister.protocol.audit;

import java.util.List;
import java.util.Optional;

/**
 * Result of an audit log's verification, with the changes that it could not have detected.
 *
 * @param findings at most {@link AuditLogVerifier#MAX_FINDINGS}, in the log's order; empty if the log is valid
 * @param unseen changes that the given files could not show, in sentences
 * @param records number of records that were read
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
