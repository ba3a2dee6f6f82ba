package org.cloister.preflight;

import java.util.Optional;

/**
 * What one check found.
 *
 * @param mend the command or package that mends it; there for every warning and failure
 */
public record Finding(String check, Level level, String text, Optional<String> mend) {
    static Finding ok(Check check, String text) {
        return new Finding(check.name(), Level.OK, text, Optional.empty());
    }

    static Finding warning(Check check, String text, String mend) {
        return new Finding(check.name(), Level.WARNING, text, Optional.of(mend));
    }

    static Finding failure(Check check, String text, String mend) {
        return new Finding(check.name(), Level.FAILURE, text, Optional.of(mend));
    }

    static Finding of(Check check, Level level, String text, String mend) {
        return level == Level.OK ? ok(check, text) : new Finding(check.name(), level, text, Optional.of(mend));
    }
}
