package org.cloister.slurm;

import java.io.IOException;

/** Slurm gave no answer, or no valid one: the request may or may not have been carried out. */
public final class SlurmUnavailableException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message the request, its result, and what to examine; up to 400 printable characters
     */
    public SlurmUnavailableException(String message) {
        super(LogText.printable(message));
    }
}
