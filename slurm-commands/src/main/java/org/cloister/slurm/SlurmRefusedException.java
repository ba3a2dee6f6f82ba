package org.cloister.slurm;

import java.io.IOException;

/** Slurm says no, for good unless the site or the request changes: nothing was enqueued. */
public final class SlurmRefusedException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message Slurm's own words; up to 400 printable characters */
    public SlurmRefusedException(String message) {
        super(LogText.printable(message));
    }
}
