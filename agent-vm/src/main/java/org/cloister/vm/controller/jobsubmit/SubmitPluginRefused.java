package org.cloister.vm.controller.jobsubmit;

import java.io.IOException;
import org.cloister.slurm.LogText;

/** A plugin that is not installed, or not any more: what was before it is in force. */
public final class SubmitPluginRefused extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message what was wrong with it, both values and what to do; up to 400 printable characters */
    public SubmitPluginRefused(String message) {
        super(LogText.printable(message));
    }
}
