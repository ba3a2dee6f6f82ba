package org.cloister.protocol.evidence;

import java.util.Optional;
import org.cloister.protocol.policy.AssuranceLevel;

/**
 * Evidence of a higher level beside the host's word, as the platform made it. This release carries it and verifies none.
 *
 * @param type such as {@code tpm2-quote} or {@code sev-snp-report}
 * @param base64 what it is, in the platform's own format
 */
public record PlatformEvidence(String type, String base64) {
    public static final String TPM2_QUOTE = "tpm2-quote";
    public static final String SEV_SNP_REPORT = "sev-snp-report";

    /** The level it would give, if it is of a kind that has a name here. */
    Optional<AssuranceLevel> offered() {
        return switch (type) {
            case TPM2_QUOTE -> Optional.of(AssuranceLevel.HOST_TPM);
            case SEV_SNP_REPORT -> Optional.of(AssuranceLevel.SEV_SNP);
            default -> Optional.empty();
        };
    }
}
