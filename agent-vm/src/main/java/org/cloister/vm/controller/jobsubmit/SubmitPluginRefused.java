package org.cloister.vm.controller.jobsubmit;

import java.io.IOException;
import org.cloister.slurm.LogText;

/** The submit plugin was not installed, or was removed again: the earlier one is in force. */
public final class SubmitPluginRefused extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message what was wrong, both values and what to do; up to 400 printable characters */
    public SubmitPluginRefused(String message) {
        super(LogText.printable(message));
    }
}
