package org.cloister.protocol.evidence;

import java.util.List;
import java.util.stream.Collectors;
import org.cloister.protocol.policy.AssuranceLevel;

/** Decision of the verifier on a VM's evidence. */
public sealed interface AttestationResult {
    /**
     * The evidence is accepted; the slot must be recorded as spent before anything is handed over.
     *
     * @param level the assurance level that was reached: the minimum over all parts
     */
    record Accepted(EvidenceStatement statement, AssuranceLevel level) implements AttestationResult {}

    /** The evidence is refused, for all of these reasons. */
    record Refused(List<Failure> failures) implements AttestationResult {
        public Refused {
            failures = List.copyOf(failures);
        }

        @Override
        public String toString() {
            return failures.stream().map(Failure::toString).collect(Collectors.joining("\n"));
        }
    }

    /**
     * Clause that denies, with its explanation.
     *
     * @param text both values and the remedy
     */
    record Failure(EvidenceClause clause, String text) {
        @Override
        public String toString() {
            return clause.id() + ": " + text;
        }
    }
}
