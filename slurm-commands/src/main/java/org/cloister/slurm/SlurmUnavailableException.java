package org.cloister.slurm;

import java.io.IOException;

/** Slurm gave no answer, or none that says anything: what was asked may or may not have been done. */
public final class SlurmUnavailableException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message what was asked, what came, and what to look at; up to 400 printable characters */
    public SlurmUnavailableException(String message) {
        super(LogText.printable(message));
    }
}
