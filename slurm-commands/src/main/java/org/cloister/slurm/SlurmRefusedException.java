package org.cloister.slurm;

import java.io.IOException;

/** Slurm refused a request, permanently unless the site or the request changes: nothing was enqueued. */
public final class SlurmRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * Creates the exception.
     *
     * @param message Slurm's own text; up to 400 printable characters
     */
    public SlurmRefusedException(String message) {
        super(LogText.printable(message));
    }
}
