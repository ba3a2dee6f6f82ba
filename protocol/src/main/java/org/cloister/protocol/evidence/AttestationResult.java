package org.cloister.protocol.evidence;

import java.util.List;
import java.util.stream.Collectors;
import org.cloister.protocol.policy.AssuranceLevel;

/** Whether a VM is believed. */
public sealed interface AttestationResult {
    /**
     * It is, and the slot must be recorded as spent before anything is handed over.
     *
     * @param level that holds: the minimum over all parts
     */
    record Accepted(EvidenceStatement statement, AssuranceLevel level) implements AttestationResult {}

    /** It is not, for all of these reasons. */
    record Refused(List<Failure> failures) implements AttestationResult {
        public Refused {
            failures = List.copyOf(failures);
        }

        @Override
        public String toString() {
            return failures.stream().map(Failure::toString).collect(Collectors.joining("\n"));
        }
    }

    /** @param text both values and the remedy */
    record Failure(EvidenceClause clause, String text) {
        @Override
        public String toString() {
            return clause.id() + ": " + text;
        }
    }
}
