package org.cloister.protocol.receipt;

import java.util.List;
import org.cloister.protocol.receipt.Finding.Level;

/**
 * What was found about a receipt.
 *
 * @param receipt believed as far as the findings go
 */
public record Verification(Receipt receipt, List<Finding> findings) {
    public Verification {
        findings = List.copyOf(findings);
    }

    /** The worst of all findings; a receipt is verified if it is {@link Level#CLAIM} or better. */
    public Level worst() {
        return findings.stream().map(Finding::level).max(Level::compareTo).orElse(Level.WRONG);
    }

    public boolean isVerified() {
        return worst().compareTo(Level.CLAIM) <= 0;
    }
}
