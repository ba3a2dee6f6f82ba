package org.cloister.preflight;

import java.util.List;

/** All findings of one run, in the order of the checks. */
public record PreflightReport(MachineRole role, List<PreflightFinding> findings) {
    public PreflightReport {
        findings = List.copyOf(findings);
    }

    public FindingSeverity worstSeverity() {
        return findings.stream()
                .map(PreflightFinding::severity)
                .max(FindingSeverity::compareTo)
                .orElse(FindingSeverity.OK);
    }
}
