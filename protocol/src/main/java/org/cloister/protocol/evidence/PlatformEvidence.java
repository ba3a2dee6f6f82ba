package org.cloister.protocol.evidence;

import java.util.Optional;
import org.cloister.protocol.policy.AssuranceLevel;

/**
 * Platform evidence of a higher assurance level beside the host's statement. This release carries it and does not
 * verify it.
 *
 * @param type such as {@code tpm2-quote} or {@code sev-snp-report}
 * @param base64 the evidence in the platform's own format
 */
public record PlatformEvidence(String type, String base64) {
    public static final String TPM2_QUOTE = "tpm2-quote";
    public static final String SEV_SNP_REPORT = "sev-snp-report";

    /** Returns the level that the evidence would reach, if its type is known. */
    Optional<AssuranceLevel> offered() {
        return switch (type) {
            case TPM2_QUOTE -> Optional.of(AssuranceLevel.HOST_TPM);
            case SEV_SNP_REPORT -> Optional.of(AssuranceLevel.SEV_SNP);
            default -> Optional.empty();
        };
    }
}
