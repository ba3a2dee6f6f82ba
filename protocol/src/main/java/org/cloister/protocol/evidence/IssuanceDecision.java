package org.cloister.protocol.evidence;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Decision of a host whether to sign a VM's claims: one statement per life, and the same one again when it is requested
 * again.
 */
sealed interface IssuanceDecision {
    /** No statement exists for this life: record this one, then sign it. */
    record First(EvidenceStatement statement) implements IssuanceDecision {}

    /** The same claims were made before: sign the recorded statement. */
    record Again() implements IssuanceDecision {}

    /** Other claims or facts were recorded: sign nothing. */
    record Refused(String reason) implements IssuanceDecision {}

    /**
     * Compares the claims and facts with the recorded statement.
     *
     * @param recorded the statement of this life, if it exists
     */
    static IssuanceDecision decide(
            String host,
            VmFacts facts,
            AttestationClaims claim,
            List<PlatformEvidence> attachments,
            Optional<EvidenceStatement> recorded,
            Instant now) {
        if (recorded.isEmpty()) {
            return new First(new EvidenceStatement(host, facts, claim, now, attachments));
        }
        EvidenceStatement before = recorded.get();
        if (!before.facts().equals(facts)) {
            return new Refused("evidence for VM " + facts.vm() + ": want the facts of its statement, " + before.facts()
                    + ", have " + facts + "; a VM that changed needs a new life");
        }
        if (!before.claim().equals(claim)) {
            return new Refused("evidence for VM " + facts.vm() + ": want the claim of its statement, with signing key "
                    + before.claim().keys().signing() + " and nonce "
                    + before.claim().nonce() + ", have "
                    + claim.keys().signing() + " and " + claim.nonce()
                    + "; a host signs one statement a VM life, start the VM anew");
        }
        return new Again();
    }
}
