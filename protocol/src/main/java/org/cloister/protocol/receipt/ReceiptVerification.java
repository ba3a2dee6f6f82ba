package org.cloister.protocol.receipt;

import java.util.List;
import org.cloister.protocol.receipt.ReceiptFinding.Level;

/**
 * Result of a receipt's verification.
 *
 * @param receipt trustworthy only as far as the findings confirm
 */
public record ReceiptVerification(Receipt receipt, List<ReceiptFinding> findings) {
    public ReceiptVerification {
        findings = List.copyOf(findings);
    }

    /** Returns the worst level of all findings; a receipt is verified if it is {@link Level#CLAIM} or better. */
    public Level worst() {
        return findings.stream()
                .map(ReceiptFinding::level)
                .max(Level::compareTo)
                .orElse(Level.WRONG);
    }

    public boolean isVerified() {
        return worst().compareTo(Level.CLAIM) <= 0;
    }
}
