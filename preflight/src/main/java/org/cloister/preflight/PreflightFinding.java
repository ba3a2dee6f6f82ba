package org.cloister.preflight;

import java.util.Optional;

/**
 * Result of one check.
 *
 * @param remedy the command or package that resolves it; present for every warning and failure
 */
public record PreflightFinding(String check, FindingSeverity severity, String text, Optional<String> remedy) {
    static PreflightFinding ok(PreflightCheck check, String text) {
        return new PreflightFinding(check.name(), FindingSeverity.OK, text, Optional.empty());
    }

    static PreflightFinding warning(PreflightCheck check, String text, String remedy) {
        return new PreflightFinding(check.name(), FindingSeverity.WARNING, text, Optional.of(remedy));
    }

    static PreflightFinding failure(PreflightCheck check, String text, String remedy) {
        return new PreflightFinding(check.name(), FindingSeverity.FAILURE, text, Optional.of(remedy));
    }

    static PreflightFinding of(PreflightCheck check, FindingSeverity level, String text, String remedy) {
        return level == FindingSeverity.OK
                ? ok(check, text)
                : new PreflightFinding(check.name(), level, text, Optional.of(remedy));
    }
}
