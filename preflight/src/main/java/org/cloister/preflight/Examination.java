package org.cloister.preflight;

import java.util.List;

/** All findings of one run, in the order of the checks. */
public record Examination(Role role, List<Finding> findings) {
    public Examination {
        findings = List.copyOf(findings);
    }

    public Level worst() {
        return findings.stream().map(Finding::level).max(Level::compareTo).orElse(Level.OK);
    }
}
