package org.cloister.protocol.evidence;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Whether a host vouches for what a VM claims: once a life, and the same again for who did not hear it. */
sealed interface IssuanceDecision {
    /** Nothing was said about this life: record the statement, then sign it. */
    record First(EvidenceStatement statement) implements IssuanceDecision {}

    /** The same was asked before: sign what is recorded. */
    record Again() implements IssuanceDecision {}

    /** Something else was said: nothing is signed. */
    record Refused(String reason) implements IssuanceDecision {}

    /** @param recorded of this life, if there is one */
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
