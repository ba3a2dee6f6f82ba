package org.cloister.preflight;

import java.util.Locale;

/** How bad a finding is, best first. */
public enum FindingSeverity {
    /** As it should be. */
    OK,
    /** Works with a loss that the finding names, or could not be checked. */
    WARNING,
    /** Jobs will not run, or not safely. */
    FAILURE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
