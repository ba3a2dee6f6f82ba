package org.cloister.preflight;

import java.util.Locale;

/** Severity of a finding, best first. */
public enum FindingSeverity {
    /** The requirement is met. */
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
